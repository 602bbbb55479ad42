(* Pinsker's inequality, and how far attention moves when scores do.

   Claims      beyond.pinsker, beyond.stability, deciphering.s4.kl-finite
   Notation    KL q p     sum_j q_j log(q_j / p_j)
               the l1 distance is sum_j |q_j - p_j|
               w j        what multiplies the old weights: new weights are p_j w_j / sum_l p_l w_l
   References  Pinsker; kl(y, x) >= 3 (y - x)^2 / (2 (y + 2x)); Birkhoff (1957) for (b - a)/(b + a), a hyperbolic tangent *)

From AttentionProofs Require Import Prelude Divergence Softmax.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section SecondDerivative.
Variable R : realType.
Implicit Types (f df g dg ddg : R -> R) (a b t : R).

Lemma mean_value f df a b : 0 < a -> a < b -> (forall t, 0 < t -> is_derive t 1 f (df t)) ->
  exists c, [/\ a < c, c < b & f b - f a = df c * (b - a)].
Proof.
move=> a0 ab fd.
have fd' t : t \in `]a, b[%R -> is_derive t 1 f (df t).
  by rewrite in_itv /= => /andP[at_ _]; apply: fd; exact: lt_trans at_.
have fc : {within `[a, b]%classic, continuous f}.
  apply: continuous_in_subspaceT => t; rewrite inE /= in_itv /= => /andP[at_ _].
  by apply/differentiable_continuous/derivable1_diffP/ex_derive/fd; exact: lt_le_trans at_.
have [c] := MVT ab fd' fc; rewrite in_itv /= => /andP[ac cb] e; by exists c.
Qed.

(* a function that touches 0 with slope 0 at 1 and is convex is not negative *)
Lemma convex_ge0 g dg ddg : (forall t, 0 < t -> is_derive t 1 g (dg t)) -> (forall t, 0 < t -> is_derive t 1 dg (ddg t)) ->
  (forall t, 0 < t -> 0 <= ddg t) -> g 1 = 0 -> dg 1 = 0 -> forall t, 0 < t -> 0 <= g t.
Proof.
move=> gd dgd dd0 g1 d1 t t0; have [t1|t1|->] := ltrgtP t 1; last by rewrite g1.
- have [c [tc c1 e]] := mean_value t0 t1 gd; have c0 := lt_trans t0 tc.
  have [c' [cc' _ e']] := mean_value c0 c1 dgd; have c'0 := lt_trans c0 cc'.
  have dc : 0 <= dg 1 - dg c by rewrite e' mulr_ge0 ?dd0 // subr_ge0 ltW.
  have : g 1 - g t <= 0.
    by rewrite e mulr_le0_ge0 ?subr_ge0 ?(ltW t1) // -oppr_ge0; move: dc; rewrite d1 sub0r.
  by rewrite g1 sub0r oppr_le0.
- have [c [c1 ct e]] := mean_value ltr01 t1 gd.
  have [c' [c1' _ e']] := mean_value ltr01 c1 dgd; have c'0 := lt_trans ltr01 c1'.
  have dc : 0 <= dg c - dg 1 by rewrite e' mulr_ge0 ?dd0 // subr_ge0 ltW.
  have : 0 <= g t - g 1 by rewrite e mulr_ge0 ?subr_ge0 ?(ltW t1) //; move: dc; rewrite d1 subr0.
  by rewrite g1 subr0.
Qed.

End SecondDerivative.

Section Pinsker.
Variable R : realType.
Implicit Types x y t : R.

Let g t : R := 2 * (t + 2) * (t * ln t - t + 1) - 3 * (t - 1) ^+ 2.
Let dg t : R := 2 * (t * ln t - t + 1) + 2 * (t + 2) * ln t - 6 * (t - 1).
Let ddg t : R := 4 * (ln t - (1 - t^-1)).

Let d_inner t : 0 < t -> is_derive t 1 (fun t => t * ln t - t + 1) (ln t).
Proof.
move=> t0; apply: (is_derive_val (d_add (d_sub (d_mul (d_id t) (d_ln t0 (d_id t))) (d_id t)) (d_cst 1 t))).
by field; rewrite gt_eqF.
Qed.

Let d_shift t : is_derive t 1 (fun t => 2 * (t + 2)) 2.
Proof. by apply: (is_derive_val (d_mulc 2 (d_add (d_id t) (d_cst 2 t)))); rewrite addr0 mulr1. Qed.

Lemma pinsker_ratio t : 0 < t -> 0 <= g t.
Proof.
apply: (@convex_ge0 R g dg ddg) => [{}t t0|{}t t0|{}t t0||].
- apply: (is_derive_val (d_sub (d_mul (d_shift t) (d_inner t0))
    (d_mulc 3 (d_sqr (d_sub (d_id t) (d_cst 1 t)))))).
  by rewrite /dg -mulr_natl subr0 mulr1; ring.
- apply: (is_derive_val (d_sub (d_add (d_mulc 2 (d_inner t0)) (d_mul (d_shift t) (d_ln t0 (d_id t))))
    (d_mulc 6 (d_sub (d_id t) (d_cst 1 t))))).
  by rewrite /ddg; field; rewrite gt_eqF.
- rewrite /ddg mulr_ge0 ?ler0n // subr_ge0 -[ln t]opprK -ln_inv // ler_oppr opprB.
  by rewrite ln_le_sub1 // invr_gt0.
- by rewrite /g ln1 mulr0 sub0r addNr mulr0 subrr expr0n mulr0 subrr.
- by rewrite /dg ln1 !mulr0 sub0r addNr mulr0 addr0 subrr mulr0 subrr.
Qed.

(* kl(y, x) >= 3 (y - x)^2 / (2 (y + 2x)) *)
Lemma pinsker_term x y : 0 <= y -> 0 < x -> 3 / 2 * ((y - x) ^+ 2 / (y + 2 * x)) <= kl y x.
Proof.
move=> + x0; rewrite le_eqVlt => /orP[/eqP <-|y0].
  rewrite kl0 (_ : _ * _ = 3 / 4 * x); last by field; rewrite gt_eqF.
  by rewrite ger_pmull // ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
have t0 : 0 < y / x by rewrite divr_gt0.
have d0 : 0 < 2 * (y + 2 * x) by rewrite mulr_gt0 // addr_gt0 // mulr_gt0.
rewrite -subr_ge0 (_ : _ - _ = x ^+ 2 / (2 * (y + 2 * x)) * g (y / x)).
  by rewrite mulr_ge0 ?pinsker_ratio // divr_ge0 ?sqr_ge0 // ltW.
rewrite /g ln_divp // /kl /xlogx; set l := ln y; set k := ln x.
by field; rewrite gt_eqF //= -[2%:R * x]mulrC gt_eqF // addr_gt0 // mulr_gt0.
Qed.

Variable I : finType.
Implicit Types (p q : I -> R).

Theorem pinsker q p : simplex q -> interior p -> 2^-1 * (\sum_j `|q j - p j|) ^+ 2 <= KL q p.
Proof.
move=> [q0 q1] [p0 p1]; rewrite KL_kl // ?q1 ?p1 //; set D := \sum_j _.
pose w j := q j + 2 * p j; have w0 j : 0 < w j by rewrite ltr_paddl // mulr_gt0.
have w3 : \sum_j w j = 3 by rewrite sumD sumZ q1 p1; ring.
have spread : 0 <= \sum_j w j * (`|q j - p j| / w j - D / 3) ^+ 2.
  by apply: sum_ge0 => j; rewrite mulr_ge0 ?sqr_ge0 // ltW.
have E : \sum_j w j * (`|q j - p j| / w j - D / 3) ^+ 2 = (\sum_j (q j - p j) ^+ 2 / w j) - D ^+ 2 / 3.
  rewrite (eq_bigr (fun j => (q j - p j) ^+ 2 / w j - 2 * D / 3 * `|q j - p j| + D ^+ 2 / 9 * w j)) => [|j _].
    by rewrite sumD sumB !sumZ w3 -/D -addrA; congr (_ + _); field.
  rewrite -[(q j - p j) ^+ 2]real_normK ?num_real //; move: (w j) (lt0r_neq0 (w0 j)) `|_| => W W0 d.
  by field.
apply: (@le_trans _ _ (3 / 2 * \sum_j (q j - p j) ^+ 2 / w j)).
  move: spread; rewrite E subr_ge0 => h.
  rewrite (_ : 2^-1 * D ^+ 2 = 3 / 2 * (D ^+ 2 / 3)); last by field.
  by rewrite ler_pmul2l ?divr_gt0 ?ltr0n.
by rewrite -sumZ; apply: sum_le => j; exact: pinsker_term.
Qed.

(* claim: beyond.pinsker *)
Theorem near_optimal_weights_are_close tau (s q : I -> R) (j0 : I) : 0 < tau -> simplex q ->
  tau / 2 * (\sum_j `|q j - softmax tau s j|) ^+ 2 <= objective tau s q + lse tau s.
Proof.
move=> t0 sq; rewrite (objective_KL s j0 (lt0r_neq0 t0) sq) subrK -mulrA ler_pmul2l //.
exact: pinsker sq (softmax_interior tau s j0).
Qed.

(* the divergence from a distribution whose entry i goes to 0 while q_i stays exceeds every bound *)
(* part of: deciphering.s4.kl-finite *)
Theorem KL_is_infinite_outside_the_support q (i : I) (M : R) : simplex q -> 0 < q i ->
  exists2 eps : R, 0 < eps & forall p, interior p -> p i < eps -> M < KL q p.
Proof.
move=> [q0 q1] qi; set e := (xlogx (q i) - q i - M) / q i; exists (expR e); first exact: expR_gt0.
move=> p [p0 p1] pe; rewrite KL_kl // ?q1 ?p1 //.
apply: (@lt_le_trans _ _ (kl (q i) (p i))); last first.
  by apply: (@entry_le_sum _ _ (fun j => kl (q j) (p j))) => j; exact: kl_ge0.
have le : ln (p i) < e by rewrite -ltr_expR exp_ln.
have M_ : M = xlogx (q i) - q i * e - q i by rewrite /e; field; rewrite gt_eqF.
rewrite {1}M_ /kl; apply: ltr_spaddr => //.
by rewrite ler_add2r ler_add2l ler_opp2 ler_pmul2l // ltW.
Qed.

End Pinsker.

Section Stability.
Variables (R : realType) (I : finType).
Implicit Types (p w f v : I -> R) (a b c L : R).

(* w (v - k) lies below its chord over v in [0, L] and w in [a, b] *)
Lemma chord a b L (k w v : R) : 0 <= v <= L -> 0 <= k <= L -> a <= w <= b ->
  L * (w * (v - k)) <= v * b * (L - k) - (L - v) * a * k.
Proof.
move=> /andP[v0 vL] /andP[k0 kL] /andP[aw wb]; have L0 := le_trans v0 vL; have ab := le_trans aw wb.
have [vk|kv] := ltP v k.
  apply: (@le_trans _ _ (L * (a * (v - k)))).
    by rewrite ler_wpmul2l // ler_wnmul2r // subr_le0 ltW.
  have e : v * b * (L - k) - (L - v) * a * k - L * (a * (v - k)) = v * (L - k) * (b - a) by ring.
  by rewrite -subr_ge0 e !mulr_ge0 // subr_ge0.
apply: (@le_trans _ _ (L * (b * (v - k)))).
  by rewrite ler_wpmul2l // ler_wpmul2r // subr_ge0.
have e : v * b * (L - k) - (L - v) * a * k - L * (b * (v - k)) = (L - v) * k * (b - a) by ring.
by rewrite -subr_ge0 e !mulr_ge0 // subr_ge0.
Qed.

Lemma balance a b L (x k : R) : b + a != 0 -> k = x + L * ((b - a) / (b + a)) ->
  (b + a) * (x * b ^+ 2 * (L - k) - (L - x) * a ^+ 2 * k) = - ((b - a) * (x * b - (L - x) * a) ^+ 2).
Proof. by move=> n0 ->; field. Qed.

(* claim: beyond.stability *)
Theorem stability p w f a b c L : simplex p -> 0 < a -> a <= b -> (forall j, a ^+ 2 <= w j <= b ^+ 2) ->
  (forall j, c <= f j <= c + L) ->
  (\sum_j p j * w j * f j) / (\sum_j p j * w j) - (\sum_j p j * f j) <= L * ((b - a) / (b + a)).
Proof.
move=> [p0 p1] a0 ab wab fL; have b0 := lt_le_trans a0 ab.
have w0 j : 0 < w j by have /andP[h _] := wab j; apply: lt_le_trans h; rewrite exprn_gt0.
have [j0 _] : exists j : I, True.
  have [i _|empty] := pickP (fun _ : I => true); first by exists i.
  by move: p1; rewrite big1 => [/esym/eqP|i _]; [rewrite oner_eq0 | have := empty i].
have L0 : 0 <= L by have /andP[h1 h2] := fL j0; have := le_trans h1 h2; rewrite ler_addl.
set W := \sum_j p j * w j; set kap := (b - a) / (b + a).
have W0 : 0 < W.
  apply: lt_le_trans (_ : a ^+ 2 <= W); first by rewrite exprn_gt0.
  rewrite -[a ^+ 2]mul1r -p1 mulr_suml; apply: sum_le => j.
  by have /andP[h _] := wab j; rewrite ler_wpmul2l.
pose v j := f j - c; set gam := \sum_j p j * v j.
have vL j : 0 <= v j <= L by have /andP[h1 h2] := fL j; rewrite subr_ge0 h1 ler_subl_addl.
have gam0 : 0 <= gam by apply: sum_ge0 => j; have /andP[h _] := vL j; rewrite mulr_ge0.
have gamL : gam <= L.
  rewrite -[L]mul1r -p1 mulr_suml; apply: sum_le => j; have /andP[_ h] := vL j; exact: ler_wpmul2l.
have kap0 : 0 <= kap by rewrite divr_ge0 ?subr_ge0 // addr_ge0 // ltW.
have -> : (\sum_j p j * w j * f j) / W - \sum_j p j * f j = (\sum_j p j * w j * (v j - gam)) / W.
  have -> : \sum_j p j * w j * (v j - gam) = (\sum_j p j * w j * f j) - (c + gam) * W.
    by rewrite -sumZ -sumB; apply: eq_bigr => j _; rewrite /v; ring.
  have -> : \sum_j p j * f j = c + gam.
    by rewrite -[c]mul1r -p1 mulr_suml -sumD; apply: eq_bigr => j _; rewrite /v; ring.
  by rewrite mulrBl mulfK ?gt_eqF.
rewrite ler_pdivr_mulr //.
set k := gam + L * kap; have k0 : 0 <= k by rewrite addr_ge0 // mulr_ge0.
rewrite -subr_le0 (_ : _ - _ = \sum_j p j * (w j * (v j - k))); last first.
  rewrite /W mulr_sumr -sumB; apply: eq_bigr => j _; rewrite /k; ring.
have [Lk|kL] := ltP L k.
  apply: sumr_le0 => j _; apply: mulr_ge0_le0 => //; apply: mulr_ge0_le0; first exact: ltW.
  by have /andP[_ h] := vL j; rewrite subr_le0 (le_trans h) // ltW.
have [Lz|Lp] := eqVneq L 0.
  apply: sumr_le0 => j _; have /andP[h1 h2] := vL j.
  apply: mulr_ge0_le0 => //; apply: mulr_ge0_le0; first exact: ltW.
  by rewrite subr_le0 (le_trans h2) // Lz.
have {}Lp : 0 < L by rewrite lt_neqAle eq_sym Lp.
rewrite -(pmulr_rle0 _ Lp) -sumZ.
apply: (@le_trans _ _ (\sum_j p j * (v j * b ^+ 2 * (L - k) - (L - v j) * a ^+ 2 * k))).
  apply: sum_le => j; rewrite mulrCA ler_wpmul2l //; apply: chord => //; by rewrite k0.
rewrite (_ : \sum_j _ = gam * b ^+ 2 * (L - k) - (L - gam) * a ^+ 2 * k); last first.
  rewrite -[L in L - gam]mul1r -p1 /gam !mulr_suml -sumB !mulr_suml -sumB.
  by apply: eq_bigr => j _; ring.
have s0 : 0 < b + a by rewrite addr_gt0.
by rewrite -(pmulr_rle0 _ s0) (@balance a b L gam k (lt0r_neq0 s0) erefl) oppr_le0 mulr_ge0 ?subr_ge0 ?sqr_ge0.
Qed.

End Stability.
