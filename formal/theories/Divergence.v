(* Divergences: x log x, kl and KL are what the optimality proofs rest on.

   Claims      deciphering.s4.both-requirements, deciphering.s4.kl, eot.4, eot.s3.second-derivative,
               eot.s3.strictly-convex, transport.s1.kl
   Notation    I          the keys, a finite set; 'I_m is one
               xlogx x    x log x with 0 log 0 = 0
               kl y x     y log(y/x) - y + x
               KL q p     sum_i q_i log(q_i/p_i)
               entropy p  -sum_i p_i log p_i
   References  the identity KL = sum of kl on distributions; 1 + x <= e^x *)

From AttentionProofs Require Import Prelude.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section OneTerm.
Variable R : realType.
Implicit Types x y c t : R.

Lemma xlogx0 : xlogx 0 = 0 :> R.
Proof. by rewrite /xlogx mul0r. Qed.

Lemma xlogx1 : xlogx 1 = 0 :> R.
Proof. by rewrite /xlogx ln1 mulr0. Qed.

Lemma xlogxE x : xlogx x = x * ln x.
Proof. by []. Qed.

(* x log x of a product, zeros included *)
Lemma xlogxM x y : 0 <= x -> 0 <= y -> xlogx (x * y) = x * xlogx y + y * xlogx x.
Proof.
rewrite /xlogx !le_eqVlt => /orP[/eqP <-|x0] /orP[/eqP <-|y0]; rewrite ?(mul0r, mulr0, addr0) //.
by rewrite ln_mul //; ring.
Qed.

(* x log x^n = n x log x, zeros included *)
Lemma xlogx_pow x n : 0 <= x -> xlogx (x ^+ n) = n%:R * x ^+ n.-1 * xlogx x.
Proof.
case: n => [|n]; first by rewrite expr0 xlogx1 mulr0n !mul0r.
rewrite le_eqVlt => /orP[/eqP <-|x0]; first by rewrite exprS mul0r xlogx0 mulr0.
by rewrite /xlogx lnX // exprS -mulr_natl /=; ring.
Qed.

Lemma kl0 x : kl 0 x = x.
Proof. by rewrite /kl xlogx0 mul0r !subr0 add0r. Qed.

Lemma kl_same x : kl x x = 0.
Proof. by rewrite /kl /xlogx subrr sub0r addNr. Qed.

Lemma kl_log x y : 0 < x -> 0 < y -> kl y x = x - y - y * ln (x / y).
Proof. by move=> x0 y0; rewrite /kl /xlogx ln_divp //; ring. Qed.

Lemma kl_ge0 x y : 0 <= y -> 0 < x -> 0 <= kl y x.
Proof.
move=> + x0; rewrite le_eqVlt => /orP[/eqP <-|y0]; first by rewrite kl0 ltW.
rewrite kl_log // subr_ge0 (_ : x - y = y * (x / y - 1)); last by field; rewrite gt_eqF.
by rewrite ler_pmul2l // ln_le_sub1 // divr_gt0.
Qed.

Lemma kl_gt0 x y : 0 <= y -> 0 < x -> y != x -> 0 < kl y x.
Proof.
move=> + x0; rewrite le_eqVlt => /orP[/eqP <-|y0]; first by rewrite kl0.
move=> yx; rewrite kl_log // subr_gt0 (_ : x - y = y * (x / y - 1)); last by field; rewrite gt_eqF.
rewrite ltr_pmul2l // ln_lt_sub1 ?divr_gt0 //.
by apply: contra yx => /eqP e; rewrite -[x](divfK (lt0r_neq0 y0)) e mul1r.
Qed.

Lemma kl_eq0 x y : 0 <= y -> 0 < x -> kl y x = 0 -> y = x.
Proof.
move=> y0 x0 e; apply/eqP/negPn/negP => yx.
by have := kl_gt0 y0 x0 yx; rewrite e ltxx.
Qed.

(* kl is homogeneous *)
Lemma kl_scale c x y : 0 < c -> 0 < x -> 0 <= y -> kl (c * y) (c * x) = c * kl y x.
Proof.
move=> c0 x0 y0; rewrite /kl (xlogxM (ltW c0) y0) (ln_mul c0 x0) /xlogx; ring.
Qed.

Lemma d_xlogx x : 0 < x -> is_derive x 1 (fun t => xlogx t) (ln x + 1).
Proof.
move=> x0; apply: (is_derive_val (d_mul (d_id x) (d_ln x0 (d_id x)))).
by rewrite !mul1r mulfV ?gt_eqF.
Qed.

(* claim: eot.s3.second-derivative *)
Theorem xlogx_second_derivative x : 0 < x ->
  is_derive x 1 (fun t => ln t + 1) x^-1 /\ 0 < x^-1.
Proof.
move=> x0; split; last by rewrite invr_gt0.
by apply: (is_derive_val (d_add (d_ln x0 (d_id x)) (d_cst 1 x))); rewrite addr0 div1r.
Qed.

(* x log x lies above its tangents, with equality only where it touches *)
Lemma xlogx_tangent x y : 0 <= y -> 0 < x -> xlogx y - xlogx x - (ln x + 1) * (y - x) = kl y x.
Proof. by move=> _ _; rewrite /kl /xlogx; ring. Qed.

End OneTerm.

Section Distributions.
Variables (R : realType) (I : finType).
Implicit Types p q : I -> R.

Lemma interiorW p : interior p -> simplex p.
Proof. by case=> p0 p1; split=> // i; exact: ltW. Qed.

Lemma simplex_le1 p i : simplex p -> p i <= 1.
Proof. by case=> p0 <-; exact: entry_le_sum. Qed.

Lemma term_KL (x y : R) : 0 <= y -> 0 < x -> y * ln (y / x) = xlogx y - y * ln x.
Proof.
rewrite /xlogx le_eqVlt => /orP[/eqP <-|y0] x0; first by rewrite !mul0r subr0.
by rewrite ln_divp // mulrBr.
Qed.

Lemma KL_open q p : (forall i, 0 <= q i) -> (forall i, 0 < p i) ->
  KL q p = \sum_i (xlogx (q i) - q i * ln (p i)).
Proof. by move=> q0 p0; apply: eq_bigr => i _; rewrite term_KL. Qed.

Lemma KL_entropy q p : (forall i, 0 <= q i) -> (forall i, 0 < p i) ->
  KL q p = - entropy q - \sum_i q i * ln (p i).
Proof. by move=> q0 p0; rewrite KL_open // sumB /entropy opprK. Qed.

(* on vectors of equal mass, KL is the sum of its terms kl, none of them negative *)
Lemma KL_kl q p : (forall i, 0 <= q i) -> (forall i, 0 < p i) -> \sum_i q i = \sum_i p i ->
  KL q p = \sum_i kl (q i) (p i).
Proof.
move=> q0 p0 qp; rewrite KL_open // /kl [RHS]sumD [in RHS]sumB qp subrK.
by apply: eq_bigr.
Qed.

(* claim: deciphering.s4.both-requirements *)
Theorem KL_ge0 q p : simplex q -> interior p -> 0 <= KL q p.
Proof.
move=> [q0 q1] [p0 p1]; rewrite KL_kl // ?q1 ?p1 //.
by apply: sum_ge0 => i; exact: kl_ge0.
Qed.

(* claim: deciphering.s4.both-requirements *)
Theorem KL_eq0 q p : simplex q -> interior p -> (KL q p = 0 <-> q = p).
Proof.
move=> [q0 q1] [p0 p1]; rewrite KL_kl // ?q1 ?p1 //; split=> [e|->].
  apply/funext => i; apply: kl_eq0 => //.
  by apply: (sum_eq0 _ e) => k; exact: kl_ge0.
by rewrite big1 // => i _; exact: kl_same.
Qed.

Lemma entropy_ge0 p : simplex p -> 0 <= entropy p.
Proof.
move=> sp; rewrite /entropy oppr_ge0; apply: sumr_le0 => i _.
have [p0 _] := sp; rewrite /xlogx.
have [->|pi0] := eqVneq (p i) 0; first by rewrite mul0r.
have pi : 0 < p i by rewrite lt_neqAle eq_sym pi0 p0.
by rewrite pmulr_rle0 // -ler_expR exp_ln // expR0 simplex_le1.
Qed.

(* part of: eot.s3.strictly-convex *)
Theorem negative_entropy_above_tangent p q : (forall i, 0 <= q i) -> (forall i, 0 < p i) -> q <> p ->
  - entropy p + (\sum_i (ln (p i) + 1) * (q i - p i)) < - entropy q.
Proof.
move=> q0 p0 qp; rewrite -subr_gt0 /entropy !opprK opprD addrA -!sumB.
rewrite (eq_bigr (fun i => kl (q i) (p i))) => [|i _]; last by rewrite xlogx_tangent.
rewrite lt_neqAle (sum_ge0 (fun i => kl_ge0 (q0 i) (p0 i))) andbT.
apply/negP => /eqP e; apply: qp; apply/funext => i; apply: kl_eq0 => //.
exact: (sum_eq0 (fun i => kl_ge0 (q0 i) (p0 i)) (esym e)).
Qed.

End Distributions.
