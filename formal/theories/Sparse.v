(* Sparse attention: sparsemax by its KKT system, and the sparsity of a tie-free row.

   Claims      eot.20, eot.22, eot.24, eot.prop4.2, transport.s5.sparsity
   Notation    plus x     x_+, the positive part
               sparse_objective s p   -<p, s> + (1/2) sum_j p_j^2
               theta      the threshold; lambda = -theta is the multiplier of the sum, mu_j that of p_j >= 0
   References  Martins and Astudillo, From softmax to sparsemax *)

From AttentionProofs Require Import Prelude.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section PositivePart.
Variable R : realType.
Implicit Types x a b : R.

Lemma plus_ge0 x : 0 <= plus x.
Proof. by rewrite /plus le_maxr lexx orbT. Qed.

Lemma plus_ge x : x <= plus x.
Proof. by rewrite /plus le_maxr lexx. Qed.

Lemma plus_pos x : 0 <= x -> plus x = x.
Proof. by move=> x0; rewrite /plus; apply/max_idPl. Qed.

Lemma plus_neg x : x <= 0 -> plus x = 0.
Proof. by move=> x0; rewrite /plus; apply/max_idPr. Qed.

(* x_+ is 0 or x *)
Lemma plus_cases x : plus x = 0 \/ plus x = x.
Proof. by have [x0|/ltW x0] := leP x 0; [left; exact: plus_neg | right; exact: plus_pos]. Qed.

(* (a - b)_+ = a where a, b >= 0 and a b = 0 *)
Lemma plus_complementary a b : 0 <= a -> 0 <= b -> a * b = 0 -> plus (a - b) = a.
Proof.
move=> a0 b0 /eqP; rewrite mulf_eq0 => /orP[] /eqP e; rewrite e ?subr0 ?sub0r.
  by rewrite plus_neg // oppr_le0.
by rewrite plus_pos.
Qed.

(* the parts of a number are complementary, and their difference is the number *)
Lemma plus_parts x : plus x * plus (- x) = 0 /\ plus x - plus (- x) = x.
Proof.
have [x0|/ltW x0] := leP x 0.
  by rewrite (plus_neg x0) mul0r sub0r plus_pos ?oppr_ge0 // opprK.
by rewrite (plus_pos x0) plus_neg ?oppr_le0 // mulr0 subr0.
Qed.

End PositivePart.

Section Sparsemax.
Variables (R : realType) (I : finType).
Implicit Types (s p q mu : I -> R) (theta : R).

Definition sparse_objective s p : R := - dot p s + 2^-1 * \sum_j p j ^+ 2.

(* claim: eot.20 *)
Theorem sparse_is_projection s p :
  sparse_objective s p = 2^-1 * (\sum_j (p j - s j) ^+ 2) - 2^-1 * \sum_j s j ^+ 2.
Proof.
rewrite /sparse_objective /dot !mulr_sumr -!sumrN -!sumD.
by apply: eq_bigr => j _; field.
Qed.

(* stationarity, feasibility and complementary slackness make a point the only minimizer *)
Lemma sparse_gap s p q mu theta : simplex p -> simplex q ->
  (forall j, s j = p j + theta - mu j) -> (forall j, p j * mu j = 0) ->
  sparse_objective s q - sparse_objective s p
  = 2^-1 * (\sum_j (q j - p j) ^+ 2) + \sum_j mu j * q j.
Proof.
move=> [_ p1] [_ q1] kkt slack.
have th : \sum_j theta * (p j - q j) = 0 by rewrite -mulr_sumr sumB p1 q1 subrr mulr0.
transitivity (\sum_j (- (q j * s j) + 2^-1 * q j ^+ 2 - (- (p j * s j) + 2^-1 * p j ^+ 2) - theta * (p j - q j))).
  by rewrite sumB th subr0 sumB !sumD !sumN !sumZ.
rewrite -[in RHS]sumZ -[RHS]sumD; apply: eq_bigr => j _; rewrite kkt.
by rewrite -[RHS]subr0 -(slack j); field.
Qed.

(* part of: eot.prop4.2 *)
Theorem sparse_kkt s p mu theta : simplex p -> (forall j, 0 <= mu j) ->
  (forall j, - s j + p j + theta - mu j = 0) -> (forall j, p j * mu j = 0) ->
  forall q, simplex q -> sparse_objective s p <= sparse_objective s q
    /\ (sparse_objective s q = sparse_objective s p -> q = p).
Proof.
move=> sp mu0 kkt slack q sq.
have kkt' j : s j = p j + theta - mu j by rewrite -[RHS]subr0 -(kkt j); ring.
have gap := sparse_gap sp sq kkt' slack.
have sq0 j : 0 <= (q j - p j) ^+ 2 by exact: sqr_ge0.
have mq0 j : 0 <= mu j * q j by rewrite mulr_ge0 //; have [] := sq.
split; first by rewrite -subr_ge0 gap addr_ge0 ?mulr_ge0 ?sum_ge0 // invr_ge0.
move=> e; have : 2^-1 * (\sum_j (q j - p j) ^+ 2) + \sum_j mu j * q j = 0 by rewrite -gap e subrr.
move/eqP; rewrite paddr_eq0 ?mulr_ge0 ?sum_ge0 ?invr_ge0 // => /andP[/eqP h _].
have z : \sum_j (q j - p j) ^+ 2 = 0.
  have n2 : (2 : R)^-1 != 0 by rewrite invr_eq0 pnatr_eq0.
  by apply: (mulfI n2); rewrite h mulr0.
apply/funext => j; have /eqP := sum_eq0 sq0 z j.
by rewrite sqrf_eq0 subr_eq0 => /eqP.
Qed.

(* claim: eot.prop4.2 *)
Theorem sparsemax_unique_minimizer s theta : \sum_j plus (s j - theta) = 1 ->
  let p := fun j => plus (s j - theta) in
  simplex p /\ forall q, simplex q -> sparse_objective s p <= sparse_objective s q
    /\ (sparse_objective s q = sparse_objective s p -> q = p).
Proof.
move=> p1 p; have sp : simplex p by split=> // j; exact: plus_ge0.
split=> //; apply: (@sparse_kkt s p (fun j => plus (- (s j - theta))) theta) => // j.
- exact: plus_ge0.
- by have [_ e] := plus_parts (s j - theta); rewrite -[RHS](subrr (s j - theta)) -{2}e /p; ring.
- by have [e _] := plus_parts (s j - theta).
Qed.

(* claim: eot.24 *)
Theorem sparse_solution_is_a_positive_part s p mu theta :
  (forall j, 0 <= p j) -> (forall j, 0 <= mu j) -> (forall j, p j * mu j = 0) ->
  (forall j, - s j + p j + theta - mu j = 0) -> forall j, p j = plus (s j - theta).
Proof.
move=> p0 mu0 slack kkt j; rewrite (_ : s j - theta = p j - mu j) ?plus_complementary //.
by rewrite -[RHS]subr0 -(kkt j); ring.
Qed.

(* a lead of 1 or more in score leaves the other key without weight *)
(* claim: transport.s5.sparsity *)
Theorem sparsity s theta j k : \sum_l plus (s l - theta) = 1 -> 1 <= s j - s k -> plus (s k - theta) = 0.
Proof.
move=> p1 lead; apply: plus_neg.
have pj : plus (s j - theta) <= 1 by rewrite -p1; apply: (@entry_le_sum _ _ (fun l => plus (s l - theta))) => l; exact: plus_ge0.
have := le_trans (plus_ge _) pj; rewrite ler_subl_addr => h.
by rewrite subr_le0 -(ler_add2l 1) (le_trans _ h) // -ler_subr_addr.
Qed.

End Sparsemax.
