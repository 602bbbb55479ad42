(* Printed statements that are false, as proved negations.

   Claims      eot.thm6.3, eot.s7.metric, eot.99, deciphering.s8.as-a-result
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

Section Deviation.
Variables (R : realType) (I K : finType).
Implicit Types (t : I -> K -> R) (u : I -> R) (z lam : K -> R) (y alpha eps : R).

(* one more coordinate, in which all templates are 0 and the evidence is y *)
Definition extended (v : K -> R) y : K + 'I_1 -> R := fun r => if r is inl k then v k else y.

Lemma extended_sum (F : K + 'I_1 -> R) : \sum_r F r = \sum_k F (inl k) + F (inr ord0).
Proof. by rewrite big_sumType big_ord1. Qed.

Lemma extended_inner t lam y i : inner (fun i => extended (t i) 0) i (extended lam y) = inner t i lam.
Proof. by rewrite /inner extended_sum mul0r addr0. Qed.

Lemma extended_tilt t u lam y : tilt (fun i => extended (t i) 0) u (extended lam y) = tilt t u lam.
Proof.
apply/funext => i; rewrite /tilt extended_inner; congr (_ / _).
by apply: eq_bigr => j _; rewrite extended_inner.
Qed.

(* evidence along it changes neither the weights of attention nor the solution, and makes the deviation as small as one likes:
   whatever the output of attention is off by, a small |lam* - alpha z| / |lam*| is no sign of it *)
(* claim: deciphering.s8.as-a-result *)
Theorem small_deviation_says_nothing t u z alpha lam eps : 0 < alpha -> 0 < eps ->
  (forall r, residual t u z alpha lam r = 0) ->
  exists y, let t' i := extended (t i) 0 in let z' := extended z y in let lam' := extended lam (alpha * y) in
    [/\ forall r, residual t' u z' alpha lam' r = 0,
        sq (fun r => lam' r - alpha * z' r) <= eps * sq lam',
        tilt t' u lam' = tilt t u lam & tilt t' u (fun r => alpha * z' r) = tilt t u (fun r => alpha * z r)].
Proof.
move=> a0 e0 system; set D := sq (fun r => lam r - alpha * z r).
have D0 : 0 <= D by exact: sq_ge0.
pose y := 1 + D / (eps * alpha ^+ 2); exists y => t' z' lam'.
have ea0 : 0 < eps * alpha ^+ 2 by rewrite mulr_gt0 // exprn_gt0.
have y1 : 1 <= y by rewrite ler_addl divr_ge0 // ltW.
split; last by rewrite -(extended_tilt t u _ (alpha * y)); congr tilt; apply/funext => -[].
- move=> [r|r]; rewrite /residual /target /mean extended_tilt /= ?system //; first exact: system.
  rewrite !big1 => [|i _|i _]; try by rewrite mulr0.
  by rewrite add0r subr0 mulrAC mulfV ?gt_eqF // mul1r subrr.
- rewrite {1}/sq extended_sum /= subrr expr0n addr0 -/(sq _) -/D /sq extended_sum /=.
  apply: (@le_trans _ _ (eps * (alpha * y) ^+ 2)); last first.
    by rewrite ler_wpmul2l ?(ltW e0) // ler_addr sumr_ge0 // => r _; exact: sqr_ge0.
  have Dy : D <= eps * alpha ^+ 2 * y.
    by rewrite /y; move: (_ * alpha ^+ 2) ea0 => k k0; rewrite mulrDr mulr1 [_ * (_ / _)]mulrC divfK ?gt_eqF // ler_addr ltW.
  apply: (le_trans Dy); rewrite -subr_ge0.
  rewrite (_ : _ - _ = eps * alpha ^+ 2 * (y * (y - 1))); last by ring.
  by rewrite (mulr_ge0 (ltW ea0)) // mulr_ge0 ?subr_ge0 // (le_trans ler01).
- exact: extended_tilt.
Qed.

End Deviation.
