(* How the entropy of a row moves with the temperature: dH/d eps = Var(s) / eps^3, never negative.

   Claims      transport.s5.interpolation, beyond.entropy-slope
   Notation    eps        the temperature; p = softmax(s / eps)
   References  the cumulants along a ray (Cumulant.v), at 1 / eps and for uniform u *)

From AttentionProofs Require Import Prelude Divergence Softmax Cumulant.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Temperature.
Variables (R : realType) (I : finType) (s : I -> R) (j : I).
Implicit Types eps : R.

Let n : R := #|I|%:R.
Let uniform : I -> R := fun=> n^-1.

Lemma n_gt0 : 0 < n.
Proof. by rewrite ltr0n; apply/card_gt0P; exists j. Qed.

Lemma uniform_interior : interior uniform.
Proof.
split=> [i|]; first by rewrite invr_gt0 n_gt0.
by rewrite sum_cst mulfV // gt_eqF // n_gt0.
Qed.

Lemma partition_ray eps : partition eps s = n * ray_mgf uniform s eps^-1.
Proof.
rewrite /partition /ray_mgf mulr_sumr; apply: eq_bigr => i _.
by rewrite mulrA mulfV ?gt_eqF ?n_gt0 // mul1r mulrC.
Qed.

Lemma softmax_ray eps i : softmax eps s i = ray_tilt uniform s eps^-1 i.
Proof.
rewrite /softmax partition_ray /ray_tilt [eps^-1 * s i]mulrC invfM.
by rewrite mulrCA mulrA.
Qed.

Definition row_mean eps : R := \sum_i softmax eps s i * s i.
Definition row_variance eps : R := \sum_i softmax eps s i * (s i - row_mean eps) ^+ 2.

Lemma entropy_ray eps :
  entropy (softmax eps s) = ln n + ln (ray_mgf uniform s eps^-1) - eps^-1 * ev uniform s eps^-1 s.
Proof.
have m0 := ray_mgf_gt0 s uniform_interior eps^-1.
rewrite -(ln_mul n_gt0 m0) -partition_ray /entropy /xlogx.
rewrite (eq_bigr (fun i => eps^-1 * (softmax eps s i * s i) - softmax eps s i * ln (partition eps s))) => [|i _].
  rewrite sumB sumZ sumZr (softmax_sum1 eps s j) mul1r opprB.
  by congr (_ - _ * _); apply: eq_bigr => i _; rewrite softmax_ray.
by rewrite ln_softmax; ring.
Qed.

(* claim: transport.s5.interpolation, beyond.entropy-slope *)
Theorem entropy_grows_with_the_temperature eps : 0 < eps ->
  is_derive eps 1 (fun e => entropy (softmax e s)) (row_variance eps / eps ^+ 3) /\ 0 <= row_variance eps / eps ^+ 3.
Proof.
move=> e0; have en := lt0r_neq0 e0; split; last first.
  rewrite divr_ge0 ?exprn_ge0 ?(ltW e0) //; apply: sum_ge0 => i.
  by rewrite mulr_ge0 ?sqr_ge0 // ltW // softmax_gt0.
have -> : (fun e => entropy (softmax e s))
    = (fun e => ln n + ln (ray_mgf uniform s e^-1) - e^-1 * ev uniform s e^-1 s).
  by apply/funext => e; exact: entropy_ray.
have dinv : is_derive eps 1 (fun e : R => e^-1) (- 1 / eps ^+ 2) by apply: (d_inv en (d_id eps)).
have ui := uniform_interior.
have dl : is_derive eps 1 (fun e => ln (ray_mgf uniform s e^-1)) (ev uniform s eps^-1 s * (- 1 / eps ^+ 2)).
  exact: (@is_derive1_comp R (fun v => ln (ray_mgf uniform s v)) (fun e => e^-1) _ _ _ (d_log_mgf s ui eps^-1) dinv).
have dm : is_derive eps 1 (fun e => ev uniform s e^-1 s) (cov uniform s eps^-1 s * (- 1 / eps ^+ 2)).
  exact: (@is_derive1_comp R (fun v => ev uniform s v s) (fun e => e^-1) _ _ _ (d_ev s ui s eps^-1) dinv).
apply: (is_derive_val (d_sub (d_add (d_cst (ln n) eps) dl) (d_mul dinv dm))).
have -> : row_variance eps = cov uniform s eps^-1 s.
  have mE : row_mean eps = ev uniform s eps^-1 s by apply: eq_bigr => i _; rewrite softmax_ray.
  by apply: eq_bigr => i _; rewrite softmax_ray mE expr2.
have E (a b e : R) : e != 0 -> 0 + a * (- 1 / e ^+ 2) - (- 1 / e ^+ 2 * a + e^-1 * (b * (- 1 / e ^+ 2))) = b / e ^+ 3.
  by move=> ?; field.
exact: E.
Qed.

End Temperature.
