(* The cumulant expansion along a ray, with its remainder: log M(x) is a quadratic up to spread^3 |x|^3 / 6.

   Claims      deciphering.13, deciphering.27
   Notation    ray_tilt w x i   u_i e^(x w_i) / M(x), M(x) = sum_j u_j e^(x w_j): the tilt along a ray, w_i = <t_i, lam>
               ev w x y         the mean of y under that tilt
               cov, cov3        its second and third central moments
   References  derivatives of cumulants; Taylor's theorem by comparison of derivatives *)

From AttentionProofs Require Import Prelude Divergence.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Comparison.
Variable R : realType.
Implicit Types f g : R -> R.

Lemma below_by_derivative f f' : f 0 = 0 -> (forall x, is_derive x 1 f (f' x)) ->
  (forall x, 0 <= x -> 0 <= f' x) -> forall x, 0 <= x -> 0 <= f x.
Proof.
move=> f0 df pos x; rewrite le_eqVlt => /orP[/eqP <-|x0]; first by rewrite f0.
have fc : {within `[0, x], continuous f}.
  apply/continuous_subspaceT => y.
  by apply/differentiable_continuous/derivable1_diffP; case: (df y).
have [c] := MVT x0 (fun y _ => df y) fc.
rewrite in_itv /= f0 !subr0 => /andP[c0 _] ->.
by rewrite mulr_ge0 ?(ltW x0) // pos // ltW.
Qed.

(* Taylor to the second order, with the remainder of the third derivative *)
Lemma taylor2 (f f1 f2 : R -> R) (k : R) :
  (forall x, is_derive x 1 f (f1 x)) -> (forall x, is_derive x 1 f1 (f2 x)) ->
  (forall x, 0 <= x -> `|f2 x| <= k) ->
  forall x, 0 <= x -> `|f x - f 0 - x * f1 0| <= k * x ^+ 2 / 2.
Proof.
move=> d0 d1 bound x x0.
have sq y : is_derive y 1 (fun t : R => k * t ^+ 2 / 2) (k * y).
  apply: (is_derive_val (d_mulcr 2^-1 (d_mulc k (d_sqr (d_id y))))).
  by field.
have lin y : is_derive y 1 (fun t : R => t * f1 0) (f1 0).
  by apply: (is_derive_val (d_mulcr (f1 0) (d_id y))); rewrite mul1r.
have kx y : is_derive y 1 (fun t : R => k * t) k.
  by apply: (is_derive_val (d_mulc k (d_id y))); rewrite mulr1.
have up1 y : 0 <= y -> 0 <= k * y - (f1 y - f1 0).
  have der z : is_derive z 1 (fun y => k * y - (f1 y - f1 0))
    ((fun y => k - (f2 y - 0)) z) by exact: (d_sub (kx z) (d_sub (d1 z) (d_cst (f1 0) z))).
  apply: (below_by_derivative _ der) => [|z z0].
  - by rewrite mulr0 subrr subr0.
  - by rewrite subr0 subr_ge0 (le_trans (ler_norm _)) // bound.
have lo1 y : 0 <= y -> 0 <= k * y + (f1 y - f1 0).
  have der z : is_derive z 1 (fun y => k * y + (f1 y - f1 0))
    ((fun y => k + (f2 y - 0)) z) by exact: (d_add (kx z) (d_sub (d1 z) (d_cst (f1 0) z))).
  apply: (below_by_derivative _ der) => [|z z0].
  - by rewrite mulr0 subrr addr0.
  - by rewrite subr0 -[f2 z]opprK subr_ge0 (le_trans (ler_norm _)) // normrN bound.
have up0 : 0 <= k * x ^+ 2 / 2 - (f x - f 0 - x * f1 0).
  have der z : is_derive z 1 (fun y => k * y ^+ 2 / 2 - (f y - f 0 - y * f1 0))
    ((fun y => k * y - (f1 y - 0 - f1 0)) z) by exact: (d_sub (sq z) (d_sub (d_sub (d0 z) (d_cst (f 0) z)) (lin z))).
  apply: (below_by_derivative _ der) => // [|z z0].
  - by rewrite expr0n mulr0 mul0r subrr mul0r !subr0.
  - by rewrite subr0 up1.
have lo0 : 0 <= k * x ^+ 2 / 2 + (f x - f 0 - x * f1 0).
  have der z : is_derive z 1 (fun y => k * y ^+ 2 / 2 + (f y - f 0 - y * f1 0))
    ((fun y => k * y + (f1 y - 0 - f1 0)) z) by exact: (d_add (sq z) (d_sub (d_sub (d0 z) (d_cst (f 0) z)) (lin z))).
  apply: (below_by_derivative _ der) => // [|z z0].
  - by rewrite expr0n mulr0 mul0r subrr mul0r !subr0 addr0.
  - by rewrite subr0 lo1.
by rewrite ler_norml -subr_ge0 opprK addrC lo0 -subr_ge0 up0.
Qed.

Lemma taylor3 (f f1 f2 f3 : R -> R) (k : R) :
  (forall x, is_derive x 1 f (f1 x)) -> (forall x, is_derive x 1 f1 (f2 x)) -> (forall x, is_derive x 1 f2 (f3 x)) ->
  (forall x, 0 <= x -> `|f3 x| <= k) ->
  forall x, 0 <= x -> `|f x - f 0 - x * f1 0 - x ^+ 2 / 2 * f2 0| <= k * x ^+ 3 / 6.
Proof.
move=> d0 d1 d2 bound x x0.
have t2 y : 0 <= y -> `|f1 y - f1 0 - y * f2 0| <= k * y ^+ 2 / 2 by exact: (taylor2 d1 d2 bound).
have cube y : is_derive y 1 (fun t : R => k * t ^+ 3 / 6) (k * y ^+ 2 / 2).
  have -> : (fun t : R => k * t ^+ 3 / 6) = (fun t => k * (t ^+ 2 * t) / 6) by apply/funext => t; rewrite -exprSr.
  by apply: (is_derive_val (d_mulcr 6^-1 (d_mulc k (d_mul (d_sqr (d_id y)) (d_id y))))); field.
have rest y : is_derive y 1 (fun y => f y - f 0 - y * f1 0 - y ^+ 2 / 2 * f2 0) (f1 y - f1 0 - y * f2 0).
  have h := d_sub (d_sub (d_sub (d0 y) (d_cst (f 0) y)) (d_mulcr (f1 0) (d_id y)))
    (d_mulcr (f2 0) (d_mulcr 2^-1 (d_sqr (d_id y)))).
  by apply: (is_derive_val h); field.
have up : 0 <= k * x ^+ 3 / 6 - (f x - f 0 - x * f1 0 - x ^+ 2 / 2 * f2 0).
  have der z : is_derive z 1 (fun y => k * y ^+ 3 / 6 - (f y - f 0 - y * f1 0 - y ^+ 2 / 2 * f2 0))
    ((fun y => k * y ^+ 2 / 2 - (f1 y - f1 0 - y * f2 0)) z) by exact: (d_sub (cube z) (rest z)).
  apply: (below_by_derivative _ der) => // [|z z0].
  - by rewrite !expr0n !mulr0 !mul0r subrr !subr0.
  - by rewrite subr_ge0 (le_trans (ler_norm _)) // t2.
have lo : 0 <= k * x ^+ 3 / 6 + (f x - f 0 - x * f1 0 - x ^+ 2 / 2 * f2 0).
  have der z : is_derive z 1 (fun y => k * y ^+ 3 / 6 + (f y - f 0 - y * f1 0 - y ^+ 2 / 2 * f2 0))
    ((fun y => k * y ^+ 2 / 2 + (f1 y - f1 0 - y * f2 0)) z) by exact: (d_add (cube z) (rest z)).
  apply: (below_by_derivative _ der) => // [|z z0].
  - by rewrite !expr0n !mulr0 !mul0r subrr !subr0 addr0.
  - by rewrite -[f1 z - _ - _]opprK subr_ge0 (le_trans (ler_norm _)) // normrN t2.
by rewrite ler_norml -subr_ge0 opprK addrC lo -subr_ge0 up.
Qed.

End Comparison.

Section Ray.
Variables (R : realType) (I : finType) (u : I -> R) (w : I -> R).
Hypothesis u_interior : interior u.
Implicit Types (y : I -> R) (x : R).

Definition ray_mgf x : R := \sum_i u i * expR (x * w i).
Definition ray_tilt x i : R := u i * expR (x * w i) / ray_mgf x.
Definition ev x y : R := \sum_i ray_tilt x i * y i.
Definition cov x y : R := \sum_i ray_tilt x i * ((y i - ev x y) * (w i - ev x w)).
Definition cov3 x y : R := \sum_i ray_tilt x i * ((y i - ev x y) * (w i - ev x w) ^+ 2).

Lemma ray_mgf_gt0 x : 0 < ray_mgf x.
Proof.
have [u0 u1] := u_interior; have [i _|empty] := pickP (fun _ : I => true); last first.
  by move: u1; rewrite big1 => [/esym/eqP|i _]; [rewrite oner_eq0 | have := empty i].
by apply: (sum_gt0 i) => j; rewrite mulr_gt0 // expR_gt0.
Qed.

Lemma ray_tilt_ge0 x i : 0 <= ray_tilt x i.
Proof. by have [u0 _] := u_interior; rewrite ltW // divr_gt0 ?ray_mgf_gt0 // mulr_gt0 // expR_gt0. Qed.

Lemma ray_tilt1 x : \sum_i ray_tilt x i = 1.
Proof. by rewrite /ray_tilt -mulr_suml mulfV // gt_eqF // ray_mgf_gt0. Qed.

Lemma ray_tilt0 i : ray_tilt 0 i = u i.
Proof.
have [_ u1] := u_interior; rewrite /ray_tilt mul0r expR0 mulr1 (_ : ray_mgf 0 = 1) ?divr1 //.
by rewrite -u1; apply: eq_bigr => j _; rewrite mul0r expR0 mulr1.
Qed.

Lemma centred x y : \sum_i ray_tilt x i * (y i - ev x y) = 0.
Proof.
rewrite (eq_bigr (fun i => ray_tilt x i * y i - ray_tilt x i * ev x y)) => [|i _]; last by rewrite mulrBr.
by rewrite sumB sumZr ray_tilt1 mul1r subrr.
Qed.

Lemma d_ray_weight i x : is_derive x 1 (fun v => u i * expR (v * w i)) (u i * expR (x * w i) * w i).
Proof.
by apply: (is_derive_val (d_mulc (u i) (d_exp (d_mulcr (w i) (d_id x))))); rewrite mul1r mulrA.
Qed.

Lemma d_ray_mgf x : is_derive x 1 ray_mgf (ray_mgf x * ev x w).
Proof.
apply: (is_derive_val (d_sum (fun i => d_ray_weight i x))); rewrite /ev mulr_sumr; apply: eq_bigr => i _.
by have := lt0r_neq0 (ray_mgf_gt0 x); rewrite /ray_tilt; set m := ray_mgf x => m0; field.
Qed.

(* part of: deciphering.27 *)
Theorem d_log_mgf x : is_derive x 1 (fun v => ln (ray_mgf v)) (ev x w).
Proof.
apply: (is_derive_val (d_ln (ray_mgf_gt0 x) (d_ray_mgf x))).
by rewrite mulrAC mulfV ?mul1r // gt_eqF // ray_mgf_gt0.
Qed.

Lemma d_ray_tilt i x : is_derive x 1 (fun v => ray_tilt v i) (ray_tilt x i * (w i - ev x w)).
Proof.
have m0 := lt0r_neq0 (ray_mgf_gt0 x).
apply: (is_derive_val (d_div m0 (d_ray_weight i x) (d_ray_mgf x))).
have E (c v m e : R) : m != 0 -> (c * v * m - c * (m * e)) / m ^+ 2 = c / m * (v - e) by move=> ?; field.
exact: E.
Qed.

Lemma d_ev y x : is_derive x 1 (fun v => ev v y) (cov x y).
Proof.
apply: (is_derive_val (d_sum (fun i => d_mulcr (y i) (d_ray_tilt i x)))).
transitivity ((\sum_i ray_tilt x i * (w i - ev x w) * y i) - ev x y * \sum_i ray_tilt x i * (w i - ev x w)).
  by rewrite centred mulr0 subr0.
by rewrite -sumZ -sumB /cov; apply: eq_bigr => i _; ring.
Qed.

Lemma d_cov y x : is_derive x 1 (fun v => cov v y) (cov3 x y).
Proof.
have dy i := d_sub (d_cst (y i) x) (d_ev y x).
have dw i := d_sub (d_cst (w i) x) (d_ev w x).
apply: (is_derive_val (d_sum (fun i => d_mul (d_ray_tilt i x) (d_mul (dy i) (dw i))))).
transitivity (cov3 x y - cov x y * (\sum_i ray_tilt x i * (w i - ev x w))
    - cov x w * (\sum_i ray_tilt x i * (y i - ev x y))).
  rewrite /cov3 -!sumZ -!sumB; apply: eq_bigr => i _.
  by set a := cov x y; set b := cov x w; set e := ev x y; set e' := ev x w; ring.
by rewrite !centred !mulr0 !subr0.
Qed.

(* a third moment is below a cubed spread *)
Lemma cov3_bound x y (dy dw : R) : (forall i j, `|y i - y j| <= dy) -> (forall i j, `|w i - w j| <= dw) ->
  `|cov3 x y| <= dy * dw ^+ 2.
Proof.
move=> hy hw; have centre v d i : (forall i j, `|v i - v j| <= d) -> `|v i - ev x v| <= d.
  move=> h; rewrite -[v i]mul1r -(ray_tilt1 x) mulr_suml /ev -sumB.
  rewrite (le_trans (ler_norm_sum _ _ _)) // -[leRHS]mul1r -(ray_tilt1 x) mulr_suml sum_le // => j.
  by rewrite -mulrBr normrM ger0_norm ?ray_tilt_ge0 // ler_wpmul2l ?ray_tilt_ge0.
rewrite (le_trans (ler_norm_sum _ _ _)) // -[leRHS]mul1r -(ray_tilt1 x) mulr_suml sum_le // => i.
rewrite normrM ger0_norm ?ray_tilt_ge0 // ler_wpmul2l ?ray_tilt_ge0 // normrM normrX ler_pmul ?exprn_ge0 //.
  exact: centre.
by rewrite ler_expn2r ?nnegrE ?centre // (le_trans (normr_ge0 (w i - w i))).
Qed.

(* log M(x) = x E[w] + x^2/2 Var[w] + rest, |rest| <= spread^3 |x|^3 / 6 *)
(* claim: deciphering.13 *)
Theorem cumulant_expansion_on_a_ray x d : 0 <= x -> (forall i j, `|w i - w j| <= d) ->
  let m := \sum_i u i * w i in
  let v := \sum_i u i * (w i - m) ^+ 2 in
  `|ln (ray_mgf x) - x * m - x ^+ 2 / 2 * v| <= d ^+ 3 * x ^+ 3 / 6.
Proof.
move=> x0 hd /=; set m := \sum_i u i * w i; set v := \sum_i u i * (w i - m) ^+ 2.
have k0 (y : R) : 0 <= y -> `|cov3 y w| <= d ^+ 3 by move=> _; rewrite exprS cov3_bound.
have := taylor3 d_log_mgf (d_ev w) (d_cov w) k0 x0.
have mE : ev 0 w = m by apply: eq_bigr => i _; rewrite ray_tilt0.
have vE : cov 0 w = v by apply: eq_bigr => i _; rewrite ray_tilt0 mE expr2.
have lE : ln (ray_mgf 0) = 0.
  rewrite (_ : ray_mgf 0 = 1) ?ln1 //; have [_ <-] := u_interior.
  by apply: eq_bigr => j _; rewrite mul0r expR0 mulr1.
by rewrite mE vE lE subr0.
Qed.

(* the mean of y along the ray, to the first order: E_x[y] = E[y] + x Cov[y, w] + rest *)
Lemma mean_expansion_on_a_ray y x dy dw : 0 <= x -> (forall i j, `|y i - y j| <= dy) -> (forall i j, `|w i - w j| <= dw) ->
  `|ev x y - ev 0 y - x * cov 0 y| <= dy * dw ^+ 2 * x ^+ 2 / 2.
Proof.
move=> x0 hy hw; apply: (taylor2 (d_ev y) (d_cov y)) => // v _; exact: cov3_bound.
Qed.

End Ray.
