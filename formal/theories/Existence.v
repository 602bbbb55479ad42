(* Existence by compactness: a continuous function on the simplex, and the dual of problem (4), attain their extremes.

   Claims      deciphering.s6.maximizer, deciphering.s4.minimizer
   Notation    row x      the vector with the entries of a row matrix, of which mathcomp-analysis has a topology
               D, residual, tilt, mean, primal   as in Duality.v, for coordinates 'I_d.+1
   References  bounded_closed_compact, compact_bounded and the extreme value theorem of mathcomp-analysis *)

From AttentionProofs Require Import Prelude Divergence Softmax Gradient Duality.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.
Local Open Scope classical_set_scope.

Section Extreme.
Variables (R : realType) (n : nat).
Implicit Types (A : set 'rV[R]_n.+1) (f : 'rV[R]_n.+1 -> R).

(* Weierstrass *)
Lemma attained A f : compact A -> A !=set0 -> {within A, continuous f} ->
  exists2 x, A x & forall y, A y -> f y <= f x.
Proof.
move=> cA [a Aa] cf.
have cfA : compact (f @` A) by exact: continuous_compact.
have [M [_ bound]] := compact_bounded cfA.
have ub : has_ubound (f @` A).
  exists (M + 1) => y Ay; apply: le_trans (ler_norm _) _.
  by apply: (bound (M + 1)) => //; rewrite ltr_addl.
have [x Ax e] : (f @` A) (sup (f @` A)).
  have /closure_id cl := compact_closed (@Rhausdorff R) cfA.
  have := @closure_sup R (f @` A) _ ub; rewrite -cl; apply.
  by exists (f a), a.
exists x => // y Ay; rewrite e; apply: sup_upper_bound; last by exists y.
by split=> //; exists (f a), a.
Qed.

End Extreme.

Section Coordinates.
Variables (R : realType) (n : nat).
Implicit Types (x : 'rV[R]_n.+1).

Lemma coordinate_continuous (j : 'I_n.+1) : continuous (fun x : 'rV[R]_n.+1 => x ord0 j).
Proof. exact: coord_continuous. Qed.

Lemma same_continuous (T : topologicalType) (f g : T -> R) : f = g -> continuous g -> continuous f.
Proof. by move=> ->. Qed.

Lemma sum_continuous (T : topologicalType) (I : finType) (f : I -> T -> R) :
  (forall i, continuous (f i)) -> continuous (fun x : T => \sum_i f i x).
Proof.
move=> fc; elim: (index_enum I) => [|i r IH].
  apply: (@same_continuous _ _ (fun=> 0)); last by move=> x; exact: cst_continuous.
  by apply/funext => x; rewrite big_nil.
apply: (@same_continuous _ _ (fun y : T => f i y + \sum_(k <- r) f k y)).
  by apply/funext => x; rewrite big_cons.
by move=> x; apply: continuousD; [exact: fc | exact: IH].
Qed.

(* a ball of the maximum norm *)
Lemma cube_compact (M : R) : compact [set x : 'rV[R]_n.+1 | forall j, `|x ord0 j| <= M].
Proof.
apply: bounded_closed_compact.
  exists M; split; first exact: num_real.
  move=> N MN x xM /=; rewrite /Num.Def.normr /= mx_normrE.
  apply: bigmax_le => [|[i j] _ /=]; last by rewrite ord1 (le_trans (xM j)) // ltW.
  by rewrite (le_trans _ (ltW MN)) // (le_trans _ (xM ord0)).
rewrite (_ : [set x | _] = \bigcap_(j in [set: 'I_n.+1]) [set x : 'rV[R]_n.+1 | `|x ord0 j| <= M]); last first.
  by apply/seteqP; split=> x h j; [move=> _; exact: h | exact: h].
apply: closed_bigI => j _.
apply: (@closed_comp _ _ (fun x : 'rV[R]_n.+1 => `|x ord0 j|) [set y : R | y <= M]); last exact: closed_le.
by move=> x _; apply: continuous_comp; [exact: coordinate_continuous | exact: norm_continuous].
Qed.

End Coordinates.

Section Dual.
Variables (R : realType) (I : finType) (n : nat).
Let K := 'I_n.+1.
Variables (t : I -> K -> R) (u : I -> R) (z : K -> R) (alpha : R).
Hypothesis u_interior : interior u.
Hypothesis alpha_gt0 : 0 < alpha.

Notation D := (dual t u z alpha).

Lemma dual_continuous : continuous (fun x : 'rV[R]_n.+1 => D (x ord0)).
Proof.
have inner_c i : continuous (fun x : 'rV[R]_n.+1 => inner t i (x ord0)).
  apply: sum_continuous => r x; apply: continuousM; first exact: cst_continuous.
  exact: coordinate_continuous.
have mgf_c : continuous (fun x : 'rV[R]_n.+1 => mgf t u (x ord0)).
  apply: sum_continuous => i x.
  apply: (@continuousM _ _ (fun=> u i) (fun x : 'rV[R]_n.+1 => expR (inner t i (x ord0)))); first exact: cst_continuous.
  apply: (@continuous_comp _ _ _ (fun x : 'rV[R]_n.+1 => inner t i (x ord0)) (@expR R)); first exact: inner_c.
  exact: continuous_expR.
have lin_c : continuous (fun x : 'rV[R]_n.+1 => dot (target t u z) (x ord0)).
  apply: sum_continuous => r x.
  apply: (@continuousM _ _ (fun=> target t u z r) (fun x : 'rV[R]_n.+1 => x ord0 r)); first exact: cst_continuous.
  exact: coordinate_continuous.
have sq_c : continuous (fun x : 'rV[R]_n.+1 => sq (x ord0)).
  apply: sum_continuous => r; apply: (@same_continuous _ _ _ (fun x : 'rV[R]_n.+1 => x ord0 r * x ord0 r)).
    by apply/funext => x; rewrite expr2.
  move=> x; apply: (@continuousM _ _ (fun x : 'rV[R]_n.+1 => x ord0 r) (fun x : 'rV[R]_n.+1 => x ord0 r));
    exact: coordinate_continuous.
have half_c : continuous (fun x : 'rV[R]_n.+1 => (2 * alpha)^-1 * sq (x ord0)).
  by move=> x; apply: (@continuousM _ _ (fun=> (2 * alpha)^-1) _ x _ (sq_c x)); exact: cst_continuous.
have ln_c : continuous (fun x : 'rV[R]_n.+1 => ln (mgf t u (x ord0))).
  move=> x; apply: (@continuous_comp _ _ _ (fun x : 'rV[R]_n.+1 => mgf t u (x ord0)) (@ln R)); first exact: mgf_c.
  exact/continuous_ln/mgf_gt0.
by move=> x; exact: (continuousB (continuousB (lin_c x) (half_c x)) (ln_c x)).
Qed.

(* the dual lies below a concave quadratic with its peak at alpha z *)
Lemma dual_below lam : D lam <= alpha / 2 * sq z - (2 * alpha)^-1 * sq (fun r => lam r - alpha * z r).
Proof.
have su : simplex u by exact: interiorW.
have gap := gap_identity t z u_interior alpha_gt0 lam su.
have k0 : 0 <= KL u (tilt t u lam) by apply: KL_ge0 su (tilt_interior t u_interior lam).
have [_ kuu] := KL_eq0 su u_interior.
have P : primal t u z alpha u = alpha / 2 * sq z.
  rewrite /primal kuu // addr0; congr (_ * _); apply: eq_bigr => r _.
  by rewrite /target addrAC subrr add0r.
have S : sq (fun r => target t u z r - mean t u r - lam r / alpha) = (alpha ^+ 2)^-1 * sq (fun r => lam r - alpha * z r).
  rewrite /sq -sumZ; apply: eq_bigr => r _; rewrite /target; set m := mean t u r.
  by field; rewrite gt_eqF.
rewrite -subr_ge0 addrAC -P gap S (_ : alpha / 2 * _ = (2 * alpha)^-1 * sq (fun r => lam r - alpha * z r)).
  by rewrite addrK.
by set x := sq _; field; rewrite gt_eqF.
Qed.

Lemma dual_at_zero : D (fun=> 0) = 0.
Proof.
have [_ u1] := u_interior.
have M1 : mgf t u (fun=> 0) = 1.
  by rewrite -u1; apply: eq_bigr => i _; rewrite inner_zero expR0 mulr1.
by rewrite /dual M1 ln1 /dot /sq !big1 ?mulr0 ?subrr ?subr0 // => r _; rewrite ?mulr0 ?expr0n.
Qed.

Let N := \sum_r `|z r|.

Lemma outside lam (r : K) : 2 * alpha * N < `|lam r| -> D lam <= 0.
Proof.
move=> far; have N0 : 0 <= N by exact: sumr_ge0.
have zN k : `|z k| <= N by apply: (@entry_le_sum _ _ (fun r => `|z r|)).
have sqz : sq z <= N ^+ 2.
  rewrite expr2 {1}/N mulr_suml; apply: sum_le => k.
  by rewrite -[z k ^+ 2]real_normK ?num_real // expr2 ler_wpmul2l.
have dist : alpha * N <= `|lam r - alpha * z r|.
  apply: le_trans (ler_sub_dist _ _); rewrite normrM (gtr0_norm alpha_gt0) ler_subr_addr.
  apply: le_trans (ltW far); rewrite -[2 * alpha * N]mulrA mulr_natl mulr2n ler_add2l.
  by rewrite (ler_wpmul2l (ltW alpha_gt0)).
apply: le_trans (dual_below lam) _; rewrite subr_le0.
apply: (@le_trans _ _ ((2 * alpha)^-1 * (alpha * N) ^+ 2)).
  rewrite (_ : _ * (alpha * N) ^+ 2 = alpha / 2 * N ^+ 2); last by field; rewrite gt_eqF.
  by rewrite ler_wpmul2l // ltW // half_alpha.
rewrite ler_wpmul2l ?invr_ge0 ?mulr_ge0 ?(ltW alpha_gt0) //.
apply: le_trans (_ : (lam r - alpha * z r) ^+ 2 <= _).
  by rewrite -[X in _ <= X]real_normK ?num_real // ler_expn2r ?nnegrE ?mulr_ge0 // ltW.
by apply: (@entry_le_sum _ _ (fun r => (lam r - alpha * z r) ^+ 2)) => k; exact: sqr_ge0.
Qed.

(* claim: deciphering.s6.maximizer *)
Theorem dual_has_a_maximizer : exists lam, forall nu, D nu <= D lam.
Proof.
have [||x Ax max] := @attained R n _ (fun x => D (x ord0)) (@cube_compact R n (2 * alpha * N)).
- by exists 0 => j; rewrite mxE normr0 !mulr_ge0 ?(ltW alpha_gt0) // sumr_ge0.
- exact/continuous_subspaceT/dual_continuous.
exists (x ord0) => nu; pose y : 'rV[R]_n.+1 := \row_j nu j.
have yE : y ord0 = nu by apply/funext => j; rewrite mxE.
have [inside|] := pselect (forall j, `|y ord0 j| <= 2 * alpha * N).
  by rewrite -yE; exact: max.
rewrite yE => /existsNP[j /negP]; rewrite -ltNge => /outside /le_trans; apply.
rewrite -dual_at_zero; have := max 0; rewrite (_ : (0 : 'rV[R]_n.+1) ord0 = fun=> 0); last first.
  by apply/funext => k; rewrite mxE.
by apply=> k; rewrite mxE normr0 !mulr_ge0 ?(ltW alpha_gt0) // sumr_ge0.
Qed.

(* the solution exists, is the tilt at a dual point, and is the only one *)
(* claim: deciphering.s4.minimizer *)
Theorem minimizer_exists : exists lam, forall q, simplex q ->
  primal t u z alpha (tilt t u lam) <= primal t u z alpha q
  /\ (primal t u z alpha q = primal t u z alpha (tilt t u lam) -> q = tilt t u lam).
Proof.
have [lam max] := dual_has_a_maximizer; exists lam.
by have [_ ] := maximizer_gives_the_minimizer u_interior alpha_gt0 max.
Qed.

End Dual.
