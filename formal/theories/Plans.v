(* Plans of n queries and m keys: the row-wise softmax, the entropic dual, one half-step of Sinkhorn's iteration.

   Claims      eot.123, transport.lem1, transport.thm1, transport.s1.sinkhorn, transport.s1.kl, transport.s3.standard,
               eot.s3.row-independence, deciphering.s9.normalized
   Notation    I, J          queries and keys
               C i j         costs; S = -C scores
               plan_objective eps C P    <P, C> + eps sum_ij P_ij log P_ij
               rows a P      sum_j P_ij = a_i, P >= 0 (the semi-relaxed set; a = 1 for attention)
               coupling a b P            both marginals
               ot_dual       D(f, g) = eps sum a + <a, f> + <b, g> - eps sum_ij e^((f_i + g_j - C_ij)/eps)
   References  Cuturi (2013); Peyre and Cuturi, Computational Optimal Transport *)

From AttentionProofs Require Import Prelude Divergence Softmax Gradient.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Plans.
Variables (R : realType) (I J : finType).
Implicit Types (C P Q : I -> J -> R) (a f : I -> R) (b g : J -> R) (eps : R).

Definition plan_objective eps C P : R := (\sum_i \sum_j P i j * C i j) + eps * \sum_i \sum_j xlogx (P i j).
Definition rows a P : Prop := (forall i j, 0 <= P i j) /\ forall i, \sum_j P i j = a i.
Definition coupling a b P : Prop := rows a P /\ forall j, \sum_i P i j = b j.

Definition row_softmax eps C : I -> J -> R := fun i => softmax eps (fun j => - C i j).

Lemma plan_objective_rows eps C P : plan_objective eps C P = \sum_i objective eps (fun j => - C i j) (P i).
Proof.
rewrite /plan_objective mulr_sumr -sumD; apply: eq_bigr => i _; rewrite /objective; congr (_ + _).
by rewrite /dot -sumN; apply: eq_bigr => j _; rewrite mulrN opprK.
Qed.

Lemma row_simplex P : rows (fun=> 1) P -> forall i, simplex (P i).
Proof. by case=> P0 P1 i; split. Qed.

(* the gap of a whole plan is a sum of divergences of its rows *)
(* part of: transport.lem1 *)
Theorem plan_gap eps C P (j : J) : eps != 0 -> rows (fun=> 1) P ->
  plan_objective eps C P - plan_objective eps C (row_softmax eps C)
  = eps * \sum_i KL (P i) (row_softmax eps C i).
Proof.
move=> e0 rP; rewrite !plan_objective_rows -sumB mulr_sumr; apply: eq_bigr => i _.
exact: (gibbs_gap (fun j => - C i j) j e0 (row_simplex rP i)).
Qed.

(* claim: eot.123, transport.lem1 *)
Theorem row_softmax_unique_minimizer eps C P (j : J) : 0 < eps -> rows (fun=> 1) P ->
  plan_objective eps C (row_softmax eps C) <= plan_objective eps C P
  /\ (plan_objective eps C P = plan_objective eps C (row_softmax eps C) -> P = row_softmax eps C).
Proof.
move=> e0 rP; have gap := plan_gap C j (lt0r_neq0 e0) rP.
have int i : interior (row_softmax eps C i) by exact: softmax_interior j.
have KL0 i : 0 <= KL (P i) (row_softmax eps C i) by apply: KL_ge0 => //; exact: row_simplex.
split; first by rewrite -subr_ge0 gap mulr_ge0 ?(ltW e0) // sum_ge0.
move=> e; have z : \sum_i KL (P i) (row_softmax eps C i) = 0.
  by apply: (mulfI (lt0r_neq0 e0)); rewrite -gap e subrr mulr0.
apply/funext => i; apply/(KL_eq0 (row_simplex rP i) (int i)).
exact: (sum_eq0 KL0 z i).
Qed.

(* claim: transport.thm1 *)
Theorem attention_is_semi_relaxed_transport eps (S : I -> J -> R) (j : J) : 0 < eps ->
  let A i := softmax eps (S i) in
  rows (fun=> 1) A /\ forall P, rows (fun=> 1) P ->
    plan_objective eps (fun i j => - S i j) A <= plan_objective eps (fun i j => - S i j) P.
Proof.
move=> e0 A; have -> : A = row_softmax eps (fun i j => - S i j).
  by apply/funext => i; rewrite /row_softmax /A; congr softmax; apply/funext => l; rewrite opprK.
split=> [|P rP]; last by have [] := row_softmax_unique_minimizer (fun i j => - S i j) j e0 rP.
by split=> [i l|i]; [rewrite ltW // softmax_gt0 | exact: softmax_sum1 j].
Qed.

(* ---- both marginals: duality with two potentials *)

Definition kernel eps C f g : I -> J -> R := fun i j => expR ((f i + g j - C i j) / eps).
Definition ot_dual eps C a b f g : R :=
  eps * (\sum_i a i) + dot a f + dot b g - eps * \sum_i \sum_j kernel eps C f g i j.

Lemma kernel_gt0 eps C f g i j : 0 < kernel eps C f g i j.
Proof. exact: expR_gt0. Qed.

(* primal less dual value is a divergence, for every coupling and all potentials *)
(* claim: transport.s3.sinkhorn-attention *)
Theorem ot_duality_gap eps C a b f g P : eps != 0 -> coupling a b P ->
  plan_objective eps C P - ot_dual eps C a b f g = eps * \sum_i \sum_j kl (P i j) (kernel eps C f g i j).
Proof.
move=> e0 [[P0 Pa] Pb].
have aE : \sum_i a i = \sum_i \sum_j P i j by apply: eq_bigr => i _; rewrite Pa.
have fE : dot a f = \sum_i \sum_j P i j * f i.
  by apply: eq_bigr => i _; rewrite -Pa mulr_suml.
have gE : dot b g = \sum_i \sum_j P i j * g j.
  by rewrite exchange_big; apply: eq_bigr => j _; rewrite -Pb mulr_suml.
transitivity (\sum_i \sum_j (P i j * C i j + eps * xlogx (P i j)
    - (eps * P i j + P i j * f i + P i j * g j - eps * kernel eps C f g i j))).
  by rewrite /plan_objective /ot_dual aE fE gE !(dsumB, dsumD, dsumZ).
rewrite -dsumZ; apply: eq_bigr => i _; apply: eq_bigr => j _.
by rewrite /kl /kernel ln_exp; field.
Qed.

(* part of: transport.s1.sinkhorn *)
Theorem ot_weak_duality eps C a b f g P : 0 < eps -> coupling a b P ->
  ot_dual eps C a b f g <= plan_objective eps C P.
Proof.
move=> e0 cP; rewrite -subr_ge0 (ot_duality_gap _ _ _ (lt0r_neq0 e0) cP) mulr_ge0 ?(ltW e0) //.
by do 2 (apply: sum_ge0 => ?); apply: kl_ge0; [have [[]] := cP | exact: kernel_gt0].
Qed.

(* a coupling of the form e^((f + g - C)/eps) is the only minimizer among all couplings *)
(* part of: transport.s1.sinkhorn *)
Theorem ot_optimal eps C a b f g P : 0 < eps -> coupling a b (kernel eps C f g) -> coupling a b P ->
  plan_objective eps C (kernel eps C f g) <= plan_objective eps C P
  /\ (plan_objective eps C P = plan_objective eps C (kernel eps C f g) -> P = kernel eps C f g).
Proof.
move=> e0 cK cP; have en := lt0r_neq0 e0.
have valK : plan_objective eps C (kernel eps C f g) = ot_dual eps C a b f g.
  apply/eqP; rewrite -subr_eq0 (ot_duality_gap _ _ _ en cK) big1 ?mulr0 // => i _.
  by rewrite big1 // => j _; exact: kl_same.
have kl0 i j : 0 <= kl (P i j) (kernel eps C f g i j).
  by apply: kl_ge0; [have [[]] := cP | exact: kernel_gt0].
rewrite valK; split; first exact: ot_weak_duality.
move=> e; have gap := ot_duality_gap C f g en cP; move: gap; rewrite e subrr => /esym gap.
have z : \sum_i \sum_j kl (P i j) (kernel eps C f g i j) = 0 by apply: (mulfI en); rewrite gap mulr0.
apply/funext => i; apply/funext => j; apply: kl_eq0; [by have [[]] := cP | exact: kernel_gt0 |].
exact: (sum_eq0 (kl0 i) (sum_eq0 (fun i => sum_ge0 (kl0 i)) z i)).
Qed.

(* one half-step: the potential of the rows that meets the row sums *)
Definition half_step eps C a g : I -> R := fun i => eps * ln (a i) - eps * ln (\sum_j expR ((g j - C i j) / eps)).

(* part of: transport.s1.sinkhorn *)
Theorem half_step_meets_the_rows eps C a g i (j : J) : 0 < eps -> 0 < a i ->
  \sum_l kernel eps C (half_step eps C a g) g i l = a i.
Proof.
move=> e0 a0; have K0 : 0 < \sum_l expR ((g l - C i l) / eps) by apply: (sum_gt0 j) => l; exact: expR_gt0.
rewrite (eq_bigr (fun l => a i / (\sum_l expR ((g l - C i l) / eps)) * expR ((g l - C i l) / eps))) => [|l _].
  by rewrite -mulr_sumr divfK // gt_eqF.
rewrite /kernel /half_step -mulrBr -ln_divp // -addrA mulrDl expRD mulrAC mulfV ?gt_eqF // mul1r.
by rewrite exp_ln // divr_gt0.
Qed.

End Plans.

Section StandardAttention.
Variables (R : realType) (I J : finType).
Implicit Types (S : I -> J -> R).

(* from v = 1, the first half-step of Sinkhorn's iteration is attention *)
(* claim: transport.s3.standard *)
Theorem attention_is_one_half_step (eps : R) S i j : 0 < eps ->
  kernel eps (fun i j => - S i j) (half_step eps (fun i j => - S i j) (fun=> 1) (fun=> 0)) (fun=> 0) i j
  = softmax eps (S i) j.
Proof.
move=> e0; have Z0 := partition_gt0 eps (S i) j.
rewrite /kernel /half_step ln1 mulr0 sub0r.
rewrite (_ : \sum_l _ = partition eps (S i)); last by apply: eq_bigr => l _; rewrite sub0r opprK.
rewrite addr0 opprK mulrDl expRD mulNr mulrAC mulfV ?gt_eqF // mul1r expRN exp_ln //.
by rewrite mulrC.
Qed.

End StandardAttention.

Section Couplings.
Variables (R : realType) (I J : finType).
Implicit Types (P : I -> J -> R) (a : I -> R) (b : J -> R).

(* -H(P) = KL(P || a b^T) - H(a) - H(b) on couplings of positive marginals *)
(* claim: transport.s1.kl *)
Theorem entropy_is_a_divergence P a b : interior a -> interior b -> coupling a b P ->
  \sum_i \sum_j xlogx (P i j) = (\sum_i \sum_j kl (P i j) (a i * b j)) - entropy a - entropy b.
Proof.
move=> [a0 a1] [b0 b1] [[P0 Pa] Pb]; rewrite /entropy !opprK.
have aE : \sum_i xlogx (a i) = \sum_i \sum_j P i j * ln (a i).
  by apply: eq_bigr => i _; rewrite -mulr_suml Pa.
have bE : \sum_j xlogx (b j) = \sum_i \sum_j P i j * ln (b j).
  by rewrite exchange_big; apply: eq_bigr => j _; rewrite -mulr_suml Pb.
have m1 : \sum_i \sum_j P i j = 1 by rewrite -a1; apply: eq_bigr => i _; rewrite Pa.
have m2 : \sum_i \sum_j a i * b j = 1 by rewrite -sum_mul a1 b1 mulr1.
transitivity (\sum_i \sum_j (kl (P i j) (a i * b j) + P i j * ln (a i) + P i j * ln (b j) + P i j - a i * b j)).
  apply: eq_bigr => i _; apply: eq_bigr => j _; rewrite /kl ln_mul //; ring.
by rewrite dsumB !dsumD m1 m2 aE bE addrK.
Qed.

End Couplings.
