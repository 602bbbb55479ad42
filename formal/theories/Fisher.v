(* The Fisher information matrix of the attention weights, from its definition as an expectation.

   Claims      eot.79, eot.87, eot.98, eot.99, eot.100, eot.s7.metric, eot.s7.information-distance, eot.thm7.3
   Notation    score tau s i j     the derivative of log p_i along s_j (see score_function)
               fisher tau s j k    F_jk = E_{i ~ p}[score_ij score_ik]
               mul A B, app A v    products of square matrices and vectors over the keys, by entries
               centering           I - 1 1^T / m
               fisher_pinv tau s   tau^2 (I - 1 1^T / m) diag(1/p) (I - 1 1^T / m)
   References  Amari, Information geometry; Penrose's four equations *)

From AttentionProofs Require Import Prelude Divergence Softmax Gradient Chain.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Matrices.
Variables (R : realType) (I : finType).
Implicit Types (A B C : I -> I -> R) (v : I -> R) (i j k : I) (c : R).

Definition mul A B : I -> I -> R := fun i k => \sum_j A i j * B j k.
Definition app A v : I -> R := fun i => \sum_j A i j * v j.
Definition scale c A : I -> I -> R := fun i j => c * A i j.
Definition centering : I -> I -> R := fun i j => delta i j - (#|I|%:R)^-1.

Lemma mul_assoc A B C : mul (mul A B) C = mul A (mul B C).
Proof.
apply/funext => i; apply/funext => l; rewrite /mul.
rewrite [LHS](eq_bigr (fun k => \sum_j A i j * B j k * C k l)) => [|k _]; last by rewrite mulr_suml.
rewrite exchange_big; apply: eq_bigr => j _; rewrite mulr_sumr.
by apply: eq_bigr => k _; rewrite mulrA.
Qed.

Lemma mul_scalel c A B : mul (scale c A) B = scale c (mul A B).
Proof.
apply/funext => i; apply/funext => l; rewrite /mul /scale mulr_sumr.
by apply: eq_bigr => k _; rewrite mulrA.
Qed.

Lemma mul_scaler c A B : mul A (scale c B) = scale c (mul A B).
Proof.
apply/funext => i; apply/funext => l; rewrite /mul /scale mulr_sumr.
by apply: eq_bigr => k _; rewrite mulrCA.
Qed.

Lemma card_neq0 (i : I) : #|I|%:R != 0 :> R.
Proof. by rewrite pnatr_eq0 -lt0n; apply/card_gt0P; exists i. Qed.

Lemma centering_sum i : \sum_j centering i j = 0.
Proof. by rewrite /centering sumB sum_delta1C sum_cst mulfV ?subrr // (card_neq0 i). Qed.

Lemma centering_sym i j : centering i j = centering j i.
Proof. by rewrite /centering deltaC. Qed.

Lemma centering_mul A : (forall k, \sum_j A j k = 0) -> mul centering A = A.
Proof.
move=> A0; apply/funext => i; apply/funext => k; rewrite /mul /centering.
rewrite [LHS](eq_bigr (fun j => delta i j * A j k - (#|I|%:R)^-1 * A j k)) => [|j _]; last by rewrite mulrBl.
by rewrite sumB sum_deltaC -mulr_sumr A0 mulr0 subr0.
Qed.

Lemma mul_centering A : (forall i, \sum_j A i j = 0) -> mul A centering = A.
Proof.
move=> A0; apply/funext => i; apply/funext => k; rewrite /mul /centering.
rewrite [LHS](eq_bigr (fun j => A i j * delta j k - A i j * (#|I|%:R)^-1)) => [|j _]; last by rewrite mulrBr.
by rewrite sumB sum_delta_r -mulr_suml A0 mul0r subr0.
Qed.

End Matrices.
Arguments centering {R I}.

Section Fisher.
Variables (R : realType) (I : finType).
Implicit Types (s u v : I -> R) (tau : R) (i j k : I) (G : I -> I -> R) (L : (I -> R) -> R).

Definition score tau s i j : R := tau^-1 * (delta i j - softmax tau s j).
Definition fisher tau s j k : R := \sum_i softmax tau s i * (score tau s i j * score tau s i k).

(* the definition: whatever the derivatives of log p are called, F is the mean of their products *)
(* claim: eot.78 *)
Theorem fisher_definition tau s j k (g : I -> I -> R) :
  (forall i l, is_partial (fun v => ln (softmax tau v i)) s l (g i l)) ->
  fisher tau s j k = \sum_i softmax tau s i * (g i j * g i k).
Proof.
move=> h; apply: eq_bigr => i _.
by rewrite (partial_uniq (h i j) (score_function tau s i j)) (partial_uniq (h i k) (score_function tau s i k)).
Qed.

(* claim: eot.87 *)
Theorem fisher_entries tau s j k :
  fisher tau s j k = (tau ^+ 2)^-1 * (softmax tau s j * delta j k - softmax tau s j * softmax tau s k).
Proof.
rewrite /fisher /score -exprVn; set p := softmax tau s; set t := tau^-1.
rewrite [LHS](eq_bigr (fun i => t ^+ 2 * (delta i j * (p i * delta i k) - delta i j * (p i * p k)
    - delta i k * (p i * p j) + p i * (p j * p k)))) => [|i _]; last by ring.
rewrite -mulr_sumr sumD !sumB !sum_delta -mulr_suml (softmax_sum1 tau s j) -/p; ring.
Qed.

Lemma fisher_sym tau s j k : fisher tau s j k = fisher tau s k j.
Proof. by apply: eq_bigr => i _; rewrite [_ * score _ _ i k]mulrC. Qed.

Lemma fisher_row tau s j : \sum_k fisher tau s j k = 0.
Proof.
rewrite (eq_bigr (fun k => (tau ^+ 2)^-1 * softmax tau s j * delta j k
    - (tau ^+ 2)^-1 * softmax tau s j * softmax tau s k)) => [|k _]; last by rewrite fisher_entries; ring.
by rewrite sumB -!mulr_sumr sum_delta1C (softmax_sum1 tau s j) subrr.
Qed.

Lemma fisher_column tau s k : \sum_j fisher tau s j k = 0.
Proof. by rewrite (eq_bigr (fun j => fisher tau s k j)) ?fisher_row // => j _; exact: fisher_sym. Qed.

(* claim: eot.100 *)
Theorem hessian_is_tau_fisher tau s j k : tau != 0 -> is_partial2 (lse tau) s j k (tau * fisher tau s j k).
Proof.
move=> t0; have [f' h1 h2] := potential_hessian s j k t0; exists f' => //.
by apply: (partial_val h2); rewrite fisher_entries; field.
Qed.

(* the quadratic form of F is a variance *)
Lemma fisher_variance tau s v :
  quad (fisher tau s) v v
  = (2 * tau ^+ 2)^-1 * \sum_j \sum_k softmax tau s j * softmax tau s k * (v j - v k) ^+ 2.
Proof.
have [j0 _|empty] := pickP (fun _ : I => true); last first.
  by rewrite /quad !big1 ?mulr0 // => i; have := empty i.
set p := softmax tau s; pose m1 := \sum_j p j * v j; pose m2 := \sum_j p j * v j ^+ 2.
have p1 : \sum_j p j = 1 by exact: softmax_sum1 j0.
have -> : quad (fisher tau s) v v = (tau ^+ 2)^-1 * (m2 - m1 ^+ 2).
  rewrite /quad [LHS](eq_bigr (fun j => (tau ^+ 2)^-1 * (p j * v j ^+ 2) - (tau ^+ 2)^-1 * m1 * (p j * v j))).
    by rewrite sumB -!mulr_sumr -/m1 -/m2; ring.
  move=> j _; rewrite [LHS](eq_bigr (fun k => (tau ^+ 2)^-1 * (p j * v j) * (delta j k * v k)
      - (tau ^+ 2)^-1 * (p j * v j) * (p k * v k))) => [|k _]; last by rewrite fisher_entries -/p; ring.
  by rewrite sumB -!mulr_sumr sum_deltaC -/m1; ring.
have -> : \sum_j \sum_k p j * p k * (v j - v k) ^+ 2 = 2 * (m2 - m1 ^+ 2).
  rewrite [LHS](eq_bigr (fun j => (p j * v j ^+ 2 + p j * m2) - 2 * m1 * (p j * v j))).
    by rewrite sumB sumD -mulr_sumr -mulr_suml p1 -/m1 -/m2; ring.
  move=> j _; rewrite [LHS](eq_bigr (fun k => (p j * v j ^+ 2 * p k + p j * (p k * v k ^+ 2))
      - 2 * (p j * v j) * (p k * v k))) => [|k _]; last by ring.
  by rewrite sumB sumD -!mulr_sumr p1 -/m1 -/m2; ring.
by rewrite [in RHS]invfM mulrACA mulVf ?pnatr_eq0 // mul1r.
Qed.

(* claim: eot.s7.metric *)
Theorem fisher_metric tau s v :
  0 <= quad (fisher tau s) v v /\ (tau != 0 -> (quad (fisher tau s) v v = 0 <-> forall j k, v j = v k)).
Proof.
have term j k : 0 <= softmax tau s j * softmax tau s k * (v j - v k) ^+ 2.
  by rewrite mulr_ge0 ?sqr_ge0 // mulr_ge0 // ltW // softmax_gt0.
have sum0 : 0 <= \sum_j \sum_k softmax tau s j * softmax tau s k * (v j - v k) ^+ 2.
  by do 2 (apply: sum_ge0 => ?).
rewrite fisher_variance; split=> [|t0].
  by rewrite mulr_ge0 // invr_ge0 mulr_ge0 ?sqr_ge0.
split=> [/eqP|same]; last by rewrite big1 ?mulr0 // => j _; rewrite big1 // => k _; rewrite (same j k) subrr expr0n mulr0.
rewrite mulf_eq0 invr_eq0 mulf_eq0 sqrf_eq0 (negbTE t0) pnatr_eq0 /= => /eqP e j k.
have ej := sum_eq0 (fun j => sum_ge0 (term j)) e j.
pose a := softmax tau s j * softmax tau s k.
have a0 : a != 0 by rewrite gt_eqF // mulr_gt0 ?softmax_gt0.
have e2 : a * (v j - v k) ^+ 2 = 0 by exact: (sum_eq0 (term j) ej k).
have /eqP : (v j - v k) ^+ 2 = 0 by apply: (mulfI a0); rewrite mulr0.
by rewrite sqrf_eq0 subr_eq0 => /eqP.
Qed.

(* claim: eot.98 *)
Theorem fisher_has_no_inverse tau s j : ~ exists G, mul (fisher tau s) G = delta.
Proof.
case=> G e; have : \sum_i mul (fisher tau s) G i j = \sum_i delta i j by rewrite e.
rewrite sum_delta1 /mul exchange_big big1 => [/eqP|k _]; first by rewrite eq_sym oner_eq0.
by rewrite -mulr_suml fisher_column mul0r.
Qed.

Definition inverse_weights tau s : I -> I -> R := fun i j => delta i j / softmax tau s i.
Definition fisher_pinv tau s : I -> I -> R := scale (tau ^+ 2) (mul centering (mul (inverse_weights tau s) centering)).

Lemma fisher_inverse_weights tau s i j : tau != 0 ->
  tau ^+ 2 * mul (fisher tau s) (inverse_weights tau s) i j = delta i j - softmax tau s i.
Proof.
move=> t0; rewrite /mul /inverse_weights.
rewrite (eq_bigr (fun k => delta k j * (fisher tau s i k / softmax tau s k))) => [|k _]; last by rewrite mulrCA.
have p0 := lt0r_neq0 (softmax_gt0 tau s j); rewrite sum_delta fisher_entries deltaE.
by case: eqP => [->|_] /=; [set p := softmax _ _ _ in p0 * | set p := softmax _ _ j in p0 *]; field; rewrite ?t0 ?p0.
Qed.

(* F F+ = F+ F = I - 1 1^T / m, and F F+ F = F, F+ F F+ = F+: Penrose's equations *)
(* claim: eot.98 *)
Theorem fisher_pseudo_inverse tau s : tau != 0 ->
  let F := fisher tau s in let Fp := fisher_pinv tau s in
  [/\ mul F Fp = centering, mul Fp F = centering, mul (mul F Fp) F = F & mul (mul Fp F) Fp = Fp].
Proof.
move=> t0 F Fp.
have FP : mul F Fp = centering.
  rewrite /Fp /fisher_pinv mul_scaler -mul_assoc (mul_centering (fisher_row tau s)) -mul_assoc -mul_scalel.
  apply/funext => i; apply/funext => k; rewrite /mul /scale.
  rewrite [LHS](eq_bigr (fun j => delta i j * centering j k - softmax tau s i * centering j k)).
    rewrite sumB sum_deltaC -mulr_sumr [X in _ - _ * X](eq_bigr (fun j => centering k j)).
      by rewrite centering_sum mulr0 subr0.
    by move=> j _; exact: centering_sym.
  by move=> j _; rewrite -[\sum_j0 _]/(mul (fisher tau s) (inverse_weights tau s) i j)
    fisher_inverse_weights // mulrBl.
have Fsym i j : F i j = F j i by exact: fisher_sym.
have Fpsym i j : Fp i j = Fp j i.
  have E k l : mul (inverse_weights tau s) centering k l = centering k l / softmax tau s k.
    rewrite /mul /inverse_weights [LHS](eq_bigr (fun h => delta k h * (centering h l / softmax tau s k))).
      by rewrite sum_deltaC.
    by move=> h _; rewrite mulrAC mulrA.
  rewrite /Fp /fisher_pinv /scale; congr (_ * _); apply: eq_bigr => k _.
  by rewrite !E (@centering_sym R I i k) (@centering_sym R I j k) mulrCA.
have PF : mul Fp F = centering.
  apply/funext => i; apply/funext => k; rewrite centering_sym -FP /mul.
  by apply: eq_bigr => j _; rewrite mulrC Fpsym Fsym.
split=> //; first by rewrite FP centering_mul //; exact: fisher_column.
rewrite PF /Fp /fisher_pinv mul_scaler -!mul_assoc; congr (scale _ (mul (mul _ _) _)).
by apply: centering_mul => k; rewrite -[RHS](@centering_sum R I k); apply: eq_bigr => j _; exact: centering_sym.
Qed.

(* ---- the gradient of the loss and the natural gradient *)

(* claim: eot.79 *)
Theorem gradient_is_fisher_times_utilities tau s u j L : tau != 0 ->
  is_gradient L (softmax tau s) (fun k => - u k) ->
  is_partial (fun v => L (softmax tau v)) s j (- tau * app (fisher tau s) u j).
Proof.
move=> t0 hL; apply: (partial_val (score_gradient j hL)); rewrite /app; set p := softmax tau s.
rewrite [X in _ = _ * X](eq_bigr (fun k => (tau ^+ 2)^-1 * p j * (delta j k * u k)
    - (tau ^+ 2)^-1 * p j * (p k * u k))) => [|k _]; last by rewrite fisher_entries -/p; ring.
by rewrite sumB -!mulr_sumr sum_deltaC; set m := \sum_k _; field.
Qed.

(* the natural gradient with the pseudo-inverse: tau times the utilities less their plain mean *)
(* claim: eot.99 *)
Theorem natural_gradient tau s u j : tau != 0 ->
  - app (fisher_pinv tau s) (fun k => - tau * app (fisher tau s) u k) j
  = tau * (u j - (\sum_k u k) / #|I|%:R).
Proof.
move=> t0; have [_ PF _ _] := fisher_pseudo_inverse s t0.
transitivity (tau * app (mul (fisher_pinv tau s) (fisher tau s)) u j).
  rewrite /app /mul mulr_sumr [RHS](eq_bigr (fun k => \sum_l tau * (fisher_pinv tau s j l * fisher tau s l k * u k))).
    rewrite exchange_big -sumrN; apply: eq_bigr => l _.
    rewrite mulNr mulrN opprK mulrCA mulr_sumr mulr_sumr; apply: eq_bigr => k _; ring.
  by move=> k _; rewrite mulr_suml mulr_sumr.
rewrite PF /app /centering; congr (_ * _).
rewrite [LHS](eq_bigr (fun k => delta j k * u k - (#|I|%:R)^-1 * u k)) => [|k _]; last by rewrite mulrBl.
by rewrite sumB sum_deltaC -mulr_sumr mulrC.
Qed.

(* what is true of the natural gradient: its differences between keys are those of the utilities, times tau *)
(* claim: eot.thm7.3 *)
Theorem natural_gradient_differences tau s u j k : tau != 0 ->
  let step := fun i => - app (fisher_pinv tau s) (fun l => - tau * app (fisher tau s) u l) i in
  step j - step k = tau * (u j - u k).
Proof. by move=> t0 step; rewrite /step !natural_gradient //; ring. Qed.

End Fisher.
