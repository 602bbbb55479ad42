(* Printed statements that are false, as proved negations.

   Claims      eot.98, eot.thm6.3, eot.s7.metric, eot.99, deciphering.s8.as-a-result, deciphering.fig4
   Notation    as in Softmax.v, Fisher.v and Duality.v; two keys are the booleans
   References  the corrected statements: dual_value, fisher_metric, natural_gradient, maximizer_gives_the_minimizer *)

From AttentionProofs Require Import Prelude Divergence Softmax Gradient Fisher Duality.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Keys.
Variable R : realType.

(* Theorem 6.3 takes the potential for the optimal dual value, which is minus the potential: two keys with score 0 *)
(* claim: eot.thm6.3 *)
Theorem dual_value_is_not_the_potential :
  ~ forall (I : finType) (tau : R) (s : I -> R), 0 < tau -> I ->
    exists lam, dual_function tau s lam = lse tau s.
Proof.
move=> h; have [lam e] := h [finType of bool] 1 (fun=> 0) ltr01 true.
have [le _] := dual_value (fun=> 0 : R) true (@ltr01 R).
have l0 : 0 < lse 1 (fun _ : bool => 0 : R).
  by rewrite /lse mul1r ln_gt0 // /partition big_bool /= mul0r expR0 ltr_addl.
by have := le lam; rewrite e leNgt (lt_trans _ l0) // oppr_lt0.
Qed.

(* F(s) is not positive definite: it sends the constant vector to 0 *)
(* claim: eot.s7.metric *)
Theorem fisher_is_not_definite (I : finType) (j : I) (tau : R) (s : I -> R) :
  ~ forall v : I -> R, v <> (fun=> 0) -> 0 < quad (fisher tau s) v v.
Proof.
move=> h; have ne : (fun _ : I => 1 : R) <> (fun=> 0).
  by move/(congr1 (fun f => f j))/eqP; rewrite oner_eq0.
have := h _ ne; rewrite (_ : quad _ _ _ = 0) ?ltxx //.
rewrite /quad big1 // => i _; rewrite (eq_bigr (fun k => fisher tau s i k)) ?fisher_row // => k _.
by rewrite mul1r mulr1.
Qed.

(* the natural gradient is no multiple of the utilities: utilities 1 and 0 of two keys *)
(* claim: eot.99 *)
Theorem natural_gradient_is_not_tau_u (tau : R) (s : bool -> R) : 0 < tau ->
  ~ forall (u : bool -> R) j, - app (fisher_pinv tau s) (fun k => - tau * app (fisher tau s) u k) j = tau * u j.
Proof.
move=> t0 h; have tn := lt0r_neq0 t0; have := h (fun b => b%:R) false.
rewrite natural_gradient // mulr0 big_bool card_bool /= addr0 sub0r mulrN => /eqP.
by rewrite oppr_eq0 mulf_eq0 (negbTE tn) mul1r invr_eq0 pnatr_eq0.
Qed.

End Keys.

Section Rescaling.
Variables (R : realType) (I K : finType).
Implicit Types (t : I -> K -> R) (u : I -> R) (z : K -> R) (c alpha : R).

(* c t_i and z / c give the same weights: the output of a layer does not determine the scale of templates and evidence,
   which is what the deviation of Figure 4 is measured in *)
(* part of: deciphering.s8.as-a-result *)
Theorem attention_does_not_see_the_scale t u z c alpha : c != 0 ->
  tilt (fun i r => c * t i r) u (fun r => alpha * (z r / c)) = tilt t u (fun r => alpha * z r).
Proof.
move=> c0; have E i : inner (fun i r => c * t i r) i (fun r => alpha * (z r / c)) = inner t i (fun r => alpha * z r).
  by apply: eq_bigr => r _; field.
apply/funext => i; rewrite /tilt E; congr (_ / _).
by apply: eq_bigr => j _; rewrite E.
Qed.

End Rescaling.
