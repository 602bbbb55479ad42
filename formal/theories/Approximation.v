(* lambda* = alpha (I + alpha Sigma)^-1 z, with its error: at most alpha^3 D^3 |z|^2 / 2, D the templates' diameter.

   Claims      deciphering.15, deciphering.s6.invertible
   Notation    covariance v  Sigma v, (Sigma v)_r = sum_i u_i (t_ir - mu_r) (<t_i, v> - <mu, v>)
               norm v        the Euclidean length
   References  mean_expansion_on_a_ray (Cumulant.v), dual_point_is_small (Duality.v) *)

From AttentionProofs Require Import Prelude Divergence Duality Cumulant.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Approximation.
Variables (R : realType) (I K : finType).
Variables (t : I -> K -> R) (u : I -> R) (z : K -> R) (alpha : R).
Hypothesis u_interior : interior u.
Hypothesis alpha_gt0 : 0 < alpha.
Implicit Types (lam nu v y : K -> R) (i j : I) (r : K).

Local Notation inner := (inner t).
Local Notation tilt := (tilt t u).
Local Notation mean := (mean t).
Local Notation residual := (residual t u z alpha).

Definition norm v : R := Num.sqrt (sq v).
Definition covariance v : K -> R :=
  fun r => \sum_i u i * ((t i r - mean u r) * (inner i v - dot (mean u) v)).

Lemma norm_ge0 v : 0 <= norm v.
Proof. exact: sqrtr_ge0. Qed.

Lemma norm_sq v : norm v ^+ 2 = sq v.
Proof. by rewrite sqr_sqrtr // sq_ge0. Qed.

Lemma cauchy_schwarz v y : `|dot v y| <= norm v * norm y.
Proof.
have sq2 : dot v y ^+ 2 <= sq v * sq y.
  have : 0 <= \sum_r \sum_r' (v r * y r' - v r' * y r) ^+ 2 by do 2 (apply: sum_ge0 => ?); exact: sqr_ge0.
  rewrite (_ : \sum_r _ = 2 * (sq v * sq y - dot v y ^+ 2)); first by rewrite pmulr_rge0 ?subr_ge0.
  transitivity (\sum_r \sum_r' (v r ^+ 2 * y r' ^+ 2 + y r ^+ 2 * v r' ^+ 2 - 2 * ((v r * y r) * (v r' * y r')))).
    by apply: eq_bigr => r _; apply: eq_bigr => r' _; ring.
  by rewrite dsumB dsumD dsumZ -!sum_mul -/(sq v) -/(sq y) -/(dot v y); ring.
rewrite -(@ler_pexpn2r _ 2) ?nnegrE ?mulr_ge0 ?norm_ge0 //.
by rewrite exprMn !norm_sq -normrX ger0_norm ?sqr_ge0.
Qed.

Lemma inner_dot i v : inner i v = dot (t i) v.
Proof. by []. Qed.

Lemma spread d y : 0 <= d -> (forall i j, norm (fun r => t i r - t j r) <= d) ->
  forall i j, `|inner i y - inner j y| <= d * norm y.
Proof.
move=> d0 hd i j; rewrite /Duality.inner -sumB (eq_bigr (fun r => (t i r - t j r) * y r)) => [|r _].
  by rewrite (le_trans (cauchy_schwarz _ y)) // ler_wpmul2r ?norm_ge0.
by rewrite mulrBl.
Qed.

Lemma tilt_on_a_ray lam i : tilt lam i = ray_tilt u (fun k => inner k lam) 1 i.
Proof.
rewrite /Duality.tilt /ray_tilt mul1r; congr (_ / _).
by apply: eq_bigr => k _; rewrite mul1r.
Qed.

Lemma covariance_form v y : dot y (covariance v)
  = \sum_i u i * ((inner i y - dot (mean u) y) * (inner i v - dot (mean u) v)).
Proof.
rewrite /dot /covariance (eq_bigr (fun r => \sum_i u i * ((y r * (t i r - mean u r)) * (inner i v - dot (mean u) v)))).
  rewrite exchange_big; apply: eq_bigr => i _; rewrite -mulr_sumr -mulr_suml; congr (_ * (_ * _)).
  by rewrite /Duality.inner -sumB; apply: eq_bigr => r _; ring.
by move=> r _; rewrite mulr_sumr; apply: eq_bigr => i _; ring.
Qed.

(* claim: deciphering.s6.invertible *)
Theorem shifted_covariance_is_positive y : sq y <= dot y (fun r => y r + alpha * covariance y r).
Proof.
have -> : dot y (fun r => y r + alpha * covariance y r) = sq y + alpha * dot y (covariance y).
  by rewrite /dot /sq -sumZ -sumD; apply: eq_bigr => r _; ring.
have [u0 _] := u_interior; rewrite ler_addl mulr_ge0 ?(ltW alpha_gt0) // covariance_form.
by apply: sum_ge0 => i; rewrite mulr_ge0 ?(ltW (u0 i)) // -expr2 sqr_ge0.
Qed.

(* the mean of the tilt, to the first order: <y, h(lam)> = <y, mu> + <y, Sigma lam> + rest *)
Lemma mean_to_first_order lam y d : 0 <= d -> (forall i j, norm (fun r => t i r - t j r) <= d) ->
  `|dot y (mean (tilt lam)) - dot y (mean u) - dot y (covariance lam)| <= d * norm y * (d * norm lam) ^+ 2 / 2.
Proof.
move=> d0 hd; have sy := spread y d0 hd; have sl := spread lam d0 hd.
have := mean_expansion_on_a_ray u_interior ler01 sy sl; rewrite mul1r expr1n mulr1.
have e1 : ev u (fun k => inner k lam) 1 (fun i => inner i y) = dot y (mean (tilt lam)).
  by rewrite dotC -mean_inner; apply: eq_bigr => i _; rewrite tilt_on_a_ray.
have e0 v : ev u (fun k => inner k lam) 0 (fun i => inner i v) = dot (mean u) v.
  by rewrite -mean_inner; apply: eq_bigr => i _; rewrite ray_tilt0.
have c0 : cov u (fun k => inner k lam) 0 (fun i => inner i y) = dot y (covariance lam).
  by rewrite covariance_form; apply: eq_bigr => i _; rewrite ray_tilt0 // !e0.
by rewrite e1 e0 c0 [dot (mean u) y]dotC.
Qed.

(* claim: deciphering.15 *)
Theorem dual_point_with_its_error lam nu d :
  0 <= d -> (forall i j, norm (fun r => t i r - t j r) <= d) ->
  (forall r, residual lam r = 0) -> (forall r, nu r + alpha * covariance nu r = alpha * z r) ->
  norm (fun r => lam r - nu r) <= alpha ^+ 3 * d ^+ 3 * sq z / 2.
Proof.
move=> d0 hd system linear; pose y r := lam r - nu r.
have cB r : covariance y r = covariance lam r - covariance nu r.
  rewrite /covariance -sumB; apply: eq_bigr => i _.
  have -> : inner i y = inner i lam - inner i nu by rewrite /Duality.inner -sumB; apply: eq_bigr => k _; rewrite mulrBr.
  have -> : dot (mean u) y = dot (mean u) lam - dot (mean u) nu by rewrite /dot -sumB; apply: eq_bigr => k _; rewrite mulrBr.
  by ring.
have err r : y r + alpha * covariance y r = - alpha * (mean (tilt lam) r - mean u r - covariance lam r).
  have sys : alpha * z r = lam r + alpha * (mean (tilt lam) r - mean u r).
    by rewrite -(system_mean system) /target; field; rewrite gt_eqF.
  transitivity (lam r + alpha * covariance lam r - (nu r + alpha * covariance nu r)); first by rewrite cB /y; ring.
  by rewrite linear sys; ring.
have yy : sq y <= alpha * (d * norm y * (d * norm lam) ^+ 2 / 2).
  rewrite (le_trans (shifted_covariance_is_positive y)) //.
  have -> : dot y (fun r => y r + alpha * covariance y r)
      = alpha * - (dot y (mean (tilt lam)) - dot y (mean u) - dot y (covariance lam)).
    by rewrite mulrN -mulNr /dot -!sumB -sumZ; apply: eq_bigr => r _; rewrite err; ring.
  by rewrite ler_pmul2l // (le_trans (ler_norm _)) // normrN mean_to_first_order.
have lz := dual_point_is_small u_interior alpha_gt0 system.
have [y0|yn] := eqVneq (norm y) 0.
  by rewrite -/y y0 !mulr_ge0 ?exprn_ge0 ?sq_ge0 ?(ltW alpha_gt0).
have yp : 0 < norm y by rewrite lt_neqAle eq_sym yn norm_ge0.
have yE : norm y <= alpha * d ^+ 3 * sq lam / 2.
  rewrite -(ler_pmul2l yp) -expr2 norm_sq (le_trans yy) // exprMn norm_sq.
  by rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
rewrite (le_trans yE) // ler_wpmul2r ?invr_ge0 //.
have -> : alpha ^+ 3 * d ^+ 3 * sq z = alpha * d ^+ 3 * (alpha ^+ 2 * sq z) by ring.
by apply: ler_wpmul2l lz; rewrite mulr_ge0 ?exprn_ge0 ?(ltW alpha_gt0).
Qed.

End Approximation.
