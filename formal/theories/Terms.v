(* What exported statements are made of: deltas, sums, slopes, powers, minimizers, plans, with the lemmas that Script uses.

   Claims      none of its own
   Notation    dlt i j     Kronecker's delta of two positions, a real number
               upd2 M i j t   the matrix M whose entry (i, j) is t *)

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
