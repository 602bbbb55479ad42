(* The fixed script by which exported statements are proved: lemmas and tactics for sums, deltas, exp, ln, slopes, signs.

   Claims      none of its own
   Notation    dlt i j     Kronecker's delta of two positions, a real number
               upd2 M i j t   the matrix M whose entry (i, j) is t
   An exported theorem comes with its intermediate forms, which nobody has to believe: each is proved by one of the tactics
   here, and a wrong one makes the proof fail. *)

From AttentionProofs Require Export Prelude Divergence Expansion Identity.
From AttentionProofs Require Import Sparse.
From mathcomp.analysis Require Export trigo.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

(* ------------------------------------------------------------------ deltas of positions *)

Definition dlt {R : realType} {m : nat} (i j : 'I_m) : R := delta i j.

(* the place of the difference j - i among the 2n - 1 differences of two positions *)
Definition offset (n : nat) (i j : 'I_n) : nat := (n + j - i.+1)%N.
Arguments offset : clear implicits.

Section Deltas.
Variables (R : realType) (m : nat).
Implicit Types i j : 'I_m.

Lemma dltC i j : dlt i j = dlt j i :> R.
Proof. exact: deltaC. Qed.

Lemma dlt_refl i : dlt i i = 1 :> R.
Proof. exact: delta_refl. Qed.

Lemma dlt_neq i j : i != j -> dlt i j = 0 :> R.
Proof. exact: delta_neq. Qed.

Lemma dlt_neqC i j : i != j -> dlt j i = 0 :> R.
Proof. by move=> ij; rewrite dltC dlt_neq. Qed.

Lemma dlt_idem i j : dlt i j * dlt i j = dlt i j :> R.
Proof. exact: delta_idem. Qed.

Lemma dlt_rest_ge0 i j : 0 <= 1 - dlt i j :> R.
Proof. by rewrite /dlt deltaE; case: (i == j); rewrite ?subrr ?subr0. Qed.

End Deltas.

(* ------------------------------------------------------------------ sums over positions *)

(* one name for a sum of real numbers, so that the ring tactic knows two of them to be one *)
Definition total {R : realType} {m : nat} (f : 'I_m -> R) : R := \sum_(i < m) f i.

Notation "\Sum_ ( i < m ) F" := (@total _ m (fun i : 'I_m => F))
  (at level 41, i at level 0, m at level 50, F at level 41, right associativity, format "\Sum_ ( i  <  m )  F").

Section Totals.
Variables (R : realType) (m n : nat).
Implicit Types (f g : 'I_m -> R) (c : R) (j : 'I_m).

Lemma totalE f : \Sum_(i < m) f i = \sum_(i < m) f i.
Proof. by []. Qed.

Lemma eq_total f g : (forall i, f i = g i) -> total f = total g.
Proof. by move=> fg; rewrite /total; apply: eq_bigr. Qed.

Lemma total_add f g : \Sum_(i < m) (f i + g i) = (\Sum_(i < m) f i) + (\Sum_(i < m) g i).
Proof. exact: big_split. Qed.

Lemma total_exchange (h : 'I_m -> 'I_n -> R) : \Sum_(i < m) \Sum_(j < n) h i j = \Sum_(j < n) \Sum_(i < m) h i j.
Proof. exact: exchange_big. Qed.

Lemma sum_dlt j f : \Sum_(l < m) (dlt l j * f l) = f j.
Proof. exact: sum_delta. Qed.

Lemma sum_dltC j f : \Sum_(l < m) (dlt j l * f l) = f j.
Proof. exact: sum_deltaC. Qed.

Lemma sum_const c : \Sum_(l < m) c = m%:R * c.
Proof. by rewrite /total sumr_const card_ord mulr_natl. Qed.

Lemma sum_pull c f : \Sum_(l < m) (c * f l) = c * (\Sum_(l < m) f l).
Proof. by rewrite /total mulr_sumr. Qed.

Lemma total_apart f g x y : total f = x -> total g = y -> \Sum_(l < m) (f l + g l) = x + y.
Proof. by move=> <- <-; exact: total_add. Qed.

Lemma pulled c f g : (forall i, c * f i = g i) -> c * total f = total g.
Proof. by move=> fg; rewrite -sum_pull; exact: eq_total. Qed.

Lemma sum_ord_gt0 f : (0 < m)%N -> (forall i, 0 < f i) -> 0 < total f.
Proof. by move=> m0 f0; apply: (sum_gt0 (Ordinal m0)). Qed.

Lemma sum_mass_gt0 (u : 'I_m -> R) f : (forall i, 0 <= u i) -> \Sum_(i < m) u i = 1 -> (forall i, 0 <= f i) ->
  (forall i, 0 < u i -> 0 < f i) -> 0 < total f.
Proof.
move=> u0 u1 f0 uf; rewrite lt0r sum_ge0 // andbT; apply/negP => /eqP z.
have {}z := sum_eq0 f0 z; move: u1; rewrite /total big1 => [/eqP|i _]; first by rewrite eq_sym oner_eq0.
by apply/eqP; apply: contraT => ui; have := uf i; rewrite lt0r ui u0 z ltxx => /(_ isT).
Qed.

Lemma sum_ord_ge0 f : (forall i, 0 <= f i) -> 0 <= total f.
Proof. exact: sum_ge0. Qed.

Lemma sum_nil : \Sum_(l < m) (0 : R) = 0.
Proof. exact: big1. Qed.

Lemma d_total (h : 'I_m -> R -> R) x (dh : 'I_m -> R) :
  (forall i, is_derive x 1 (h i) (dh i)) -> is_derive x 1 (fun t => total (h^~ t)) (total dh).
Proof. exact: d_sum. Qed.

End Totals.

(* ------------------------------------------------------------------ slopes *)

Definition upd2 (R : realType) (m n : nat) (M : 'I_m -> 'I_n -> R) (i : 'I_m) (j : 'I_n) (t : R) : 'I_m -> 'I_n -> R :=
  fun a b => if (a == i) && (b == j) then t else M a b.

Section Slopes.
Variable R : realType.
Implicit Types (f : R -> R) (x df : R).

Lemma d_dlt (m : nat) (s : 'I_m -> R) i j x : is_derive x (1 : R) (fun t : R => upd s j t i) (dlt i j : R).
Proof. exact: d_entry. Qed.

Lemma d_dlt2 (m n : nat) (M : 'I_m -> 'I_n -> R) a b i j x :
  is_derive x (1 : R) (fun t : R => upd2 M i j t a b) (dlt a i * dlt b j : R).
Proof.
rewrite /upd2 /dlt !deltaE; case: (a == i); case: (b == j) => /=; rewrite ?mulr1 ?mulr0; first [exact: d_id | exact: d_cst].
Qed.

Lemma upd1_id (m : nat) (s : 'I_m -> R) j : upd s j (s j) = s.
Proof. by apply/funext => i; rewrite /upd; case: eqP => [->|]. Qed.

Lemma upd2_id (m n : nat) (M : 'I_m -> 'I_n -> R) i j : upd2 M i j (M i j) = M.
Proof. by apply/funext => a; apply/funext => b; rewrite /upd2; case: eqP => [->|] //=; case: eqP => [->|]. Qed.

Lemma d_pow n f x df : is_derive x 1 f df -> is_derive x 1 (fun t => f t ^+ n.+1) (n.+1%:R * f x ^+ n * df).
Proof.
move=> hf; elim: n => [|n IH].
  rewrite (_ : (fun t => f t ^+ 1) = f); last by apply/funext => t; rewrite expr1.
  by rewrite mul1r expr0 mul1r.
rewrite (_ : (fun t => f t ^+ n.+2) = (fun t => f t * f t ^+ n.+1)); last by apply/funext => t; rewrite exprS.
apply: (is_derive_val (d_mul hf IH)).
by rewrite [n.+2%:R]mulrSr exprS; ring.
Qed.

Lemma slope f x df : is_derive x 1 f df -> derive1 f x = df.
Proof. exact: d_val. Qed.

End Slopes.

(* ------------------------------------------------------------------ logarithms, exponentials, roots *)

(* the argument is a number of R itself, so that the ring tactic knows two roots to be one *)
Definition root {R : realType} (x : R) : R := Num.sqrt x.

(* the logarithm of a number, for the same reason *)
Definition ln_nat {R : realType} (n : nat) : R := ln n%:R.

Section Powers.
Variable R : realType.
Implicit Types (x y a : R).

Lemma ln_pow n x : 0 < x -> ln (x ^+ n) = n%:R * ln x.
Proof. by move=> x0; rewrite lnX // mulr_natl. Qed.

Lemma root_gt0 x : (0 < root x) = (0 < x).
Proof. exact: sqrtr_gt0. Qed.

Lemma root_ge0 x : 0 <= root x.
Proof. exact: sqrtr_ge0. Qed.

Lemma ln_root x : 0 < x -> ln (root x) = 2%:R^-1 * ln x.
Proof. by move=> x0; rewrite /root -{2}(sqr_sqrtr (ltW x0)) ln_pow ?sqrtr_gt0 // mulrA mulVf ?mul1r // pnatr_eq0. Qed.

Lemma ln_natE n : ln (n%:R : R) = ln_nat n.
Proof. by []. Qed.

Lemma powr_gt0 x a : 0 < x `^ a.
Proof. exact: exp_fun_gt0. Qed.

Lemma plus_slack x p mu : x = p - mu -> 0 <= p -> 0 <= mu -> mu * p = 0 -> plus x = p.
Proof. by move=> -> p0 mu0; rewrite mulrC; exact: plus_complementary. Qed.

Lemma plus_opp x y : y = - x -> plus x = plus y + x.
Proof. by move=> ->; have [_ {3}<-] := plus_parts x; rewrite addrC subrK. Qed.

Lemma abs_plus x y : y = x -> `|x| = 2%:R * plus y + (- y).
Proof.
move=> ->; have [x0|/ltW x0] := leP x 0; first by rewrite plus_neg // mulr0 sub0r ler0_norm.
by rewrite plus_pos // ger0_norm // mulr_natl mulr2n addrK.
Qed.

Lemma abs_opp x y : y = - x -> `|x| = 2%:R * plus y + (- y).
Proof. by rewrite -normrN; exact: abs_plus. Qed.

Lemma gap_ge0 x y z : x - y = z -> 0 <= z -> y <= x.
Proof. by move=> <-; rewrite subr_ge0. Qed.

Lemma gap_gt0 x y z : x - y = z -> 0 < z -> y < x.
Proof. by move=> <-; rewrite subr_gt0. Qed.

Lemma put_eq (P : R -> Prop) x y : x = y -> P y -> P x.
Proof. by move=> ->. Qed.

Lemma abs_square x : `|x| ^+ 2 = x ^+ 2.
Proof. exact: real_normK (num_real x). Qed.

Lemma exp_drop_ge0 x y : 0 <= x -> 0 <= y -> 0 <= expR x - expR (- y).
Proof. by move=> x0 y0; rewrite subr_ge0 ler_expR (le_trans _ x0) // oppr_le0. Qed.

Lemma exp_rest_ge0 y : 0 <= y -> 0 <= 1 - expR (- y).
Proof. by move=> y0; rewrite -(@expR0 R); exact: exp_drop_ge0. Qed.

End Powers.

(* ------------------------------------------------------------------ minimizers by the identity that proves them *)

Section Minimizers.
Variables (R : realType) (m : nat).
Implicit Types (p q : 'I_m -> R).

Definition only_minimizer (F : ('I_m -> R) -> R) p : Prop :=
  (forall j, 0 <= p j) /\ \Sum_(j < m) p j = 1 /\
  forall q, (forall j, 0 <= q j) -> \Sum_(j < m) q j = 1 -> F p <= F q /\ (F q = F p -> forall j, q j = p j).

Lemma only_minimizer_kl F p (c : R) (G : ('I_m -> R) -> R) :
  0 < c -> (forall j, 0 < p j) -> \Sum_(j < m) p j = 1 ->
  (forall q, (forall j, 0 <= q j) -> \Sum_(j < m) q j = 1 -> 0 <= G q) ->
  (forall q, (forall j, 0 <= q j) -> \Sum_(j < m) q j = 1 -> F q = F p + (c * (\Sum_(j < m) kl (q j) (p j)) + G q)) ->
  only_minimizer F p.
Proof.
move=> c0 p0 p1 G0 E; split; [by move=> j; exact: ltW | split=> // q q0 q1].
have k0 j : 0 <= kl (q j) (p j) by apply: kl_ge0.
have s0 : 0 <= \Sum_(j < m) kl (q j) (p j) by apply: sum_ord_ge0.
have g0 := G0 q q0 q1.
have t0 : 0 <= c * \Sum_(j < m) kl (q j) (p j) by apply: mulr_ge0 => //; exact: ltW.
split.
  rewrite (E q q0 q1) ler_addl.
  exact: addr_ge0.
rewrite (E q q0 q1) => /(congr1 (fun z => z - F p)); rewrite addrAC subrr add0r => /eqP.
rewrite paddr_eq0 // mulf_eq0 (gt_eqF c0) /= => /andP[/eqP sz _] j.
by apply: (kl_eq0 (q0 j) (p0 j)); apply: (sum_eq0 k0 sz).
Qed.

End Minimizers.

(* plans: matrices whose rows are points of the simplex *)
Section Plans.
Variables (R : realType) (n m : nat).
Implicit Types (P Q : 'I_n -> 'I_m -> R).

Definition only_plan (F : ('I_n -> 'I_m -> R) -> R) P : Prop :=
  (forall i j, 0 <= P i j) /\ (forall i, \Sum_(j < m) P i j = 1) /\
  forall Q, (forall i j, 0 <= Q i j) -> (forall i, \Sum_(j < m) Q i j = 1) ->
    F P <= F Q /\ (F Q = F P -> forall i j, Q i j = P i j).

Lemma only_plan_kl F P (c : 'I_n -> R) :
  (forall i, 0 < c i) -> (forall i j, 0 < P i j) -> (forall i, \Sum_(j < m) P i j = 1) ->
  (forall Q, (forall i j, 0 <= Q i j) -> (forall i, \Sum_(j < m) Q i j = 1) ->
    F Q = F P + \Sum_(i < n) \Sum_(j < m) (c i * kl (Q i j) (P i j))) ->
  only_plan F P.
Proof.
move=> c0 p0 p1 E; split; [by move=> i j; exact: ltW | split=> // Q q0 q1].
have k0 i j : 0 <= c i * kl (Q i j) (P i j) by apply: mulr_ge0; [exact: ltW | exact: kl_ge0].
have r0 i : 0 <= \Sum_(j < m) (c i * kl (Q i j) (P i j)) by apply: sum_ord_ge0.
split; rewrite (E Q q0 q1); first by rewrite ler_addl; exact: sum_ord_ge0.
rewrite -{2}[F P]addr0 => /addrI z i j.
have zi : \Sum_(j < m) (c i * kl (Q i j) (P i j)) = 0 by exact: (sum_eq0 r0 z).
have /eqP := sum_eq0 (k0 i) zi j; rewrite mulf_eq0 (gt_eqF (c0 i)) /= => /eqP.
exact: (kl_eq0 (q0 i j) (p0 i j)).
Qed.

End Plans.

(* ------------------------------------------------------------------ tactics *)

(* the sign of an expression, from its form and from the hypotheses *)
Ltac sign_hyp := match goal with
  | H : is_true (0 < _) |- is_true (0 < _) => exact: H
  | H : is_true (0 <= _) |- is_true (0 <= _) => exact: H
  | H : is_true (0 < ?x) |- is_true (0 <= ?x) => exact: (ltW H)
  | H : forall _, is_true (0 < _) |- is_true (0 < _) => exact: H
  | H : forall _, is_true (0 <= _) |- is_true (0 <= _) => exact: H
  | H : forall _, is_true (0 < _) |- is_true (0 <= _) => apply: ltW; exact: H
  | H : forall _ _, is_true (0 < _) |- is_true (0 < _) => exact: H
  | H : forall _ _, is_true (0 <= _) |- is_true (0 <= _) => exact: H
  | H : forall _ _, is_true (0 < _) |- is_true (0 <= _) => apply: ltW; exact: H
  end.

Ltac positive :=
  lazymatch goal with
  | |- is_true true => done
  | |- is_true (_ && _) => apply/andP; split; positive
  | |- is_true (_ != 0) => first [assumption | apply: lt0r_neq0; positive]
  | |- is_true (0 < ?x) => first [sign_hyp |
      lazymatch x with
      | ?a + ?b => first [apply: addr_gt0; positive | apply: ltr_spaddl; positive | apply: ltr_paddl; positive]
      | ?a * ?b => apply: mulr_gt0; positive
      | (?a)^-1 => rewrite invr_gt0; positive
      | ?a ^+ _ => apply: exprn_gt0; positive
      | expR _ => apply: expR_gt0
      | _ `^ _ => apply: powr_gt0
      | root _ => rewrite root_gt0; positive
      | pi => exact: pi_gt0
      | total _ => first [apply: sum_ord_gt0; [assumption | intro; positive]
        | match goal with mass : @total _ _ ?u = 1 |- is_true (0 < @total _ _ ?f) =>
            apply: (@sum_mass_gt0 _ _ u f); [intro; positive | exact: mass | intro; positive
            | let i := fresh in let h := fresh in move=> i h; positive] end
        | match goal with rows : forall _, @total _ _ _ = 1 |- _ => rewrite rows; exact: ltr01 end]
      | _%:R => rewrite ltr0n; done
      | 1 => exact: ltr01
      end]
  | |- is_true (0 <= ?x) => first [sign_hyp |
      lazymatch x with
      | 1 - dlt _ _ => exact: dlt_rest_ge0
      | 1 - expR (- _) => apply: exp_rest_ge0; positive
      | expR _ - expR (- _) => apply: exp_drop_ge0; positive
      | ?a + ?b => apply: Num.Theory.addr_ge0; positive
      | ?a * ?a => rewrite -expr2; exact: sqr_ge0
      | ?a * ?b => apply: mulr_ge0; positive
      | (?a)^-1 => rewrite invr_ge0; positive
      | ?a ^+ 2 => exact: sqr_ge0
      | ?a ^+ _ => first [apply: exprn_ge0; positive | apply: exprn_even_ge0; done]
      | `|_| => exact: normr_ge0
      | expR _ => apply: ltW; exact: expR_gt0
      | root _ => exact: root_ge0
      | kl _ _ => apply: kl_ge0; positive
      | plus _ => exact: plus_ge0
      | total _ => apply: sum_ord_ge0; intro; positive
      | _%:R => exact: ler0n
      | 0 => exact: lexx
      | _ => apply: ltW; positive
      end]
  end.

(* the right side of an equation in the place of its left side, where that stands letter by letter: `rewrite` would try to
   unify it with whatever begins alike, for seconds *)
Ltac put H :=
  let equation := type of H in let equation := eval cbv beta in equation in
  lazymatch equation with ?l = _ => lazymatch goal with
  | |- context [l] => pattern l; refine (@put_eq _ _ _ _ H _); cbv beta
  | |- _ => idtac end end.

(* a sum of several summands as the sum of their sums *)
Ltac apart := lazymatch goal with
  | |- _ = _ + _ => refine (total_apart _ _); [apart | reflexivity]
  | |- _ => reflexivity
  end.

Ltac deltas := repeat match goal with
  | |- context [dlt ?i ?i] => rewrite (@dlt_refl _ _ i)
  | H : is_true (?i != ?j) |- context [dlt ?i ?j] => rewrite (@dlt_neq _ _ i j H)
  | H : is_true (?i != ?j) |- context [dlt ?j ?i] => rewrite (@dlt_neqC _ _ i j H)
  end.

(* both cases of each delta: its positions are the same, or they are not *)
Ltac split_deltas := lazymatch goal with
  | |- context [@dlt _ _ ?i ?j] =>
      let E := fresh "E" in have [E|E] := eqVneq i j;
      [rewrite ?E ?dlt_refl | rewrite ?(@dlt_neq _ _ _ _ E) ?(@dlt_neqC _ _ _ _ E)]; try split_deltas
  end.

(* an identity in which the square of an absolute value is that of its argument *)
Ltac squares := match goal with |- context [`|?x|] => first [ring: (abs_square x) | field: (abs_square x); positive] end.

(* an identity in which a product with a slack variable is 0 *)
Ltac slacks := match goal with H : forall i, ?o i * ?u i = 0 |- context [?o ?j] => first [ring: (H j) | field: (H j); positive] end.

(* inverses of what is the same polynomial *)
Ltac inverses := lazymatch goal with |- _^-1 = _^-1 => congr (_^-1); identity end.

(* an identity of the field, in which sums and functions are atoms; the quickest tactic comes first *)
Ltac fld := cbv beta; deltas;
  first [reflexivity | identity | inverses | slacks | field; positive | ring | congr (_^-1); ring | squares
        | split_deltas; first [reflexivity | field; positive]].

(* ln of a product whose factors are positive, and exp of a sum *)
Ltac lns := repeat match goal with
  | |- context [ln (?a * ?b)] => rewrite (@ln_mul _ a b); [| solve [positive] | solve [positive]]
  | |- context [ln (?a)^-1] => rewrite (@ln_inv _ a); [| solve [positive]]
  | |- context [ln (?a ^+ ?n)] => rewrite (@ln_pow _ n a); [| solve [positive]]
  | |- context [ln (root ?a)] => rewrite (@ln_root _ a); [| solve [positive]]
  | |- context [ln (expR ?a)] => rewrite (@ln_exp _ a)
  | |- context [ln 1] => rewrite ln1
  | |- context [@ln _ (@GRing.natmul _ _ ?n)] => rewrite (@ln_natE _ n)
  end.

Ltac exps := repeat match goal with
  | |- context [expR (?a + ?b)] => rewrite (expRD a b)
  | |- context [expR (- ?a)] => rewrite (expRN a)
  | |- context [expR (?n%:R * ?a)] => rewrite (expRMm n a)
  | |- context [expR 0] => rewrite expR0
  | |- context [expR (ln ?a)] => rewrite (@exp_ln _ a); [| solve [positive]]
  end.

(* the slope of a function of one variable, by its form *)
Ltac derive := lazymatch goal with
  | |- is_derive _ _ _ _ => first
      [ notypeclasses refine (@d_cst _ _ _) | notypeclasses refine (@d_id _ _)
      | notypeclasses refine (@d_dlt _ _ _ _ _ _) | notypeclasses refine (@d_dlt2 _ _ _ _ _ _ _ _ _)
      | notypeclasses refine (d_pow _ _); derive | notypeclasses refine (d_opp _); derive
      | notypeclasses refine (d_mulc _ _); derive | notypeclasses refine (d_mulcr _ _); derive
      | notypeclasses refine (d_add _ _); derive | notypeclasses refine (d_mul _ _); derive
      | notypeclasses refine (d_inv _ _); derive
      | notypeclasses refine (d_exp _); derive | notypeclasses refine (d_ln _ _); derive
      | notypeclasses refine (d_total _); let i := fresh in intro i; derive ]
  | |- _ => cbv beta; rewrite ?upd1_id ?upd2_id; positive
  end.

(* the expansion of a function at 0, by its form *)
Lemma series_total (R : realType) (m : nat) (f : 'I_m -> R -> R) (a b c d : 'I_m -> R) :
  (forall i, series (f i) (a i) (b i) (c i) (d i)) ->
  series (fun t => total (f^~ t)) (total a) (total b) (total c) (total d).
Proof. exact: series_sum. Qed.

Lemma zero_pow (R : realType) n : 0 ^+ n.+1 = 0 :> R.
Proof. by rewrite exprS mul0r. Qed.

(* what is 0 or 1 goes at every step, so that coefficients stay small *)
Ltac zeros := rewrite ?(mul0r, mulr0, add0r, addr0, mul1r, mulr1, oppr0, zero_pow, sum_nil, expR0, ln1, invr1, expr1n); reflexivity.

Ltac expand := cbv beta; lazymatch goal with
  | |- series (fun _ => ?a) _ _ _ _ => notypeclasses refine (@series_cst _ _)
  | |- series (fun t => t) _ _ _ _ => notypeclasses refine (@series_id _)
  | |- _ => notypeclasses refine (series_eq _ _ _ _ _); [expand_step | zeros | zeros | zeros | zeros]
  end
with expand_step := lazymatch goal with |- @series ?R ?F _ _ _ _ =>
  let body := eval cbv beta in (F (0 : R)) in
  lazymatch body with
  | _ ^+ 1 => notypeclasses refine (series_pow1 _); expand
  | _ ^+ _ => notypeclasses refine (series_pow _ _); expand
  | - _ => notypeclasses refine (series_opp _); expand
  | _ * _ => first [notypeclasses refine (series_mulc _ _) | notypeclasses refine (series_mulcr _ _)
                   | notypeclasses refine (series_mul _ _)]; expand
  | _ + _ => notypeclasses refine (series_add _ _); expand
  | _^-1 => notypeclasses refine (series_inv _ _); [expand | positive]
  | expR _ => notypeclasses refine (series_exp _); expand
  | ln _ => notypeclasses refine (series_ln _ _); [expand | positive]
  | total _ => notypeclasses refine (series_total _); let i := fresh in intro i; expand
  end end.

(* the functions are what they are: no tactic opens them *)
Global Opaque total expR ln root ln_nat pi derive1 dlt upd upd2.
