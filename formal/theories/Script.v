(* The fixed script by which exported statements are proved: tactics for sums, deltas, exp, ln, slopes, signs.

   Claims      none of its own
   An exported theorem comes with its intermediate forms, which nobody has to believe: each is proved by one of the tactics
   here, and a wrong one makes the proof fail. *)

From AttentionProofs Require Export Terms.
From AttentionProofs Require Import Sparse.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

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
