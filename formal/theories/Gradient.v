(* Derivatives of softmax and of log-sum-exp, and of what is linear in softmax.

   Claims      eot.54, eot.58, eot.59, eot.67, eot.68, eot.82, eot.101, eot.103,
               eot.s2.log-derivative, eot.s5.expected-reward, eot.s5.score-function, eot.s6.potential-gradient
   Notation    is_partial f s j d     the derivative of f along entry j at s exists and is d
               is_partial2 f s j k d  f has partial derivatives along j everywhere, whose derivative along k at s is d
               value tau s            V(s), the least value of the objective over the simplex
   References  derive.v; the rules of Prelude.v *)

From AttentionProofs Require Import Prelude Divergence Softmax.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Gradient.
Variables (R : realType) (I : finType).
Implicit Types (s p u g : I -> R) (tau : R) (i j k : I) (f L : (I -> R) -> R).

Definition is_partial2 f s j k d : Prop :=
  exists2 f' : (I -> R) -> R, forall v, is_partial f v j (f' v) & is_partial f' s k d.

Definition value tau s : R := objective tau s (softmax tau s).

Lemma partial_val f s j d e : is_partial f s j d -> d = e -> is_partial f s j e.
Proof. by move=> h <-. Qed.

Lemma partial_exp tau s i j :
  is_partial (fun v => expR (v i / tau)) s j (expR (s i / tau) * (delta i j / tau)).
Proof.
by apply: (is_derive_val (d_exp (d_mulcr tau^-1 (d_entry s i j (s j))))); rewrite upd_id.
Qed.

Lemma partial_partition tau s j : is_partial (partition tau) s j (expR (s j / tau) / tau).
Proof.
apply: (is_derive_val (d_sum (fun i => partial_exp tau s i j))).
rewrite (eq_bigr (fun i => delta i j * (expR (s i / tau) / tau))) => [|i _]; first by rewrite sum_delta.
by rewrite mulrCA.
Qed.

(* claim: eot.59 *)
Theorem jacobian tau s j k :
  is_partial (fun v => softmax tau v k) s j (tau^-1 * softmax tau s k * (delta k j - softmax tau s j)).
Proof.
have Z0 : partition tau (upd s j (s j)) != 0 by rewrite gt_eqF // (partition_gt0 _ _ j).
apply: (is_derive_val (d_div Z0 (partial_exp tau s k j) (partial_partition tau s j))).
rewrite upd_id /softmax in Z0 *; set Z := partition tau s in Z0 *.
set a := expR (s k / tau); set b := expR (s j / tau); set t := tau^-1.
by field.
Qed.

(* claim: eot.54 *)
Theorem jacobian_diagonal tau s j :
  is_partial (fun v => softmax tau v j) s j (tau^-1 * softmax tau s j * (1 - softmax tau s j)).
Proof. by apply: (partial_val (jacobian tau s j j)); rewrite delta_refl. Qed.

(* claim: eot.58 *)
Theorem jacobian_off_diagonal tau s j k : k != j ->
  is_partial (fun v => softmax tau v k) s j (- (tau^-1 * softmax tau s k * softmax tau s j)).
Proof. by move=> kj; apply: (partial_val (jacobian tau s j k)); rewrite delta_neq // sub0r mulrN. Qed.

(* claim: eot.82 *)
Theorem score_function tau s i j :
  is_partial (fun v => ln (softmax tau v i)) s j (tau^-1 * (delta i j - softmax tau s j)).
Proof.
have p0 : 0 < softmax tau (upd s j (s j)) i by exact: softmax_gt0.
apply: (is_derive_val (@d_ln R (fun t => softmax tau (upd s j t) i) _ _ p0 (jacobian tau s j i))).
rewrite upd_id in p0 *; set p := softmax tau s i in p0 *; set t := tau^-1.
by field; rewrite gt_eqF.
Qed.

(* claim: eot.s5.score-function *)
Theorem log_derivative_of_the_policy tau s i j :
  is_partial (fun v => ln (softmax tau v i)) s j ((delta i j - softmax tau s j) / tau).
Proof. by apply: (partial_val (score_function tau s i j)); rewrite mulrC. Qed.

(* claim: eot.s6.potential-gradient *)
Theorem potential_gradient tau s j : tau != 0 -> is_partial (lse tau) s j (softmax tau s j).
Proof.
move=> t0; have Z0 : 0 < partition tau (upd s j (s j)) by exact: partition_gt0 j.
apply: (is_derive_val (d_mulc tau (@d_ln R (fun t => partition tau (upd s j t)) _ _ Z0 (partial_partition tau s j)))).
by rewrite upd_id in Z0 *; rewrite /softmax; set Z := partition _ _ in Z0 *; field; rewrite t0 gt_eqF.
Qed.

(* claim: eot.101 *)
Theorem hessian_is_jacobian tau s j k d : tau != 0 ->
  is_partial2 (lse tau) s j k d <-> is_partial (fun v => softmax tau v j) s k d.
Proof.
move=> t0; split=> [[f' first second]|h]; last by exists (fun v => softmax tau v j) => // v; exact: potential_gradient.
suff <- : f' = (fun v => softmax tau v j) by [].
by apply/funext => v; exact: partial_uniq (first v) (potential_gradient v j t0).
Qed.

(* claim: eot.103 *)
Theorem potential_hessian tau s j k : tau != 0 ->
  is_partial2 (lse tau) s j k (tau^-1 * (softmax tau s j * delta j k - softmax tau s j * softmax tau s k)).
Proof.
move=> t0; apply/hessian_is_jacobian => //.
by apply: (partial_val (jacobian tau s k j)); rewrite -mulrA mulrBr.
Qed.

(* claim: eot.67 *)
Theorem value_gradient tau s j : tau != 0 -> is_partial (value tau) s j (- softmax tau s j).
Proof.
move=> t0; have -> : value tau = (fun v => - lse tau v).
  by apply/funext => v; rewrite (objective_at_softmax v j t0) opprK.
exact: (d_opp (potential_gradient s j t0)).
Qed.

(* the derivative in the scores with the plan held fixed, which is the derivative of the value: the envelope theorem *)
(* claim: eot.68 *)
Theorem envelope tau s j d : tau != 0 ->
  is_partial (value tau) s j d <-> is_partial (fun v => objective tau v (softmax tau s)) s j d.
Proof.
move=> t0; set p := softmax tau s.
have fixed : is_partial (fun v => objective tau v p) s j (- p j).
  have lin := d_sum (fun i => d_mulc (p i) (d_entry s i j (s j))).
  apply: (is_derive_val (d_add (d_opp lin) (d_cst (tau * \sum_l xlogx (p l)) (s j)))).
  by rewrite sum_delta_r addr0.
by split=> h; [rewrite (partial_uniq h (value_gradient s j t0)) | rewrite (partial_uniq h fixed); exact: value_gradient].
Qed.

(* ---- losses *)

(* E_p[u] with the utilities held fixed *)
(* claim: eot.s5.expected-reward *)
Theorem expected_reward_gradient tau s u j :
  is_partial (fun v => \sum_k softmax tau v k * u k) s j
    (tau^-1 * softmax tau s j * (u j - \sum_k softmax tau s k * u k)).
Proof.
apply: (is_derive_val (d_sum (fun k => d_mulcr (u k) (jacobian tau s j k)))).
rewrite [LHS](eq_bigr (fun k => delta k j * (tau^-1 * softmax tau s k * u k)
    - tau^-1 * softmax tau s j * (softmax tau s k * u k))) => [|k _]; last by ring.
by rewrite sumB sum_delta -mulr_sumr; ring.
Qed.

(* claim: eot.s2.log-derivative *)
Theorem log_derivative_trick tau s u j (score : I -> R) :
  (forall i, is_partial (fun v => ln (softmax tau v i)) s j (score i)) ->
  is_partial (fun v => \sum_i softmax tau v i * u i) s j (\sum_i softmax tau s i * (u i * score i)).
Proof.
move=> h; apply: (partial_val (expected_reward_gradient tau s u j)).
rewrite [RHS](eq_bigr (fun i => delta i j * (tau^-1 * softmax tau s i * u i)
    - tau^-1 * softmax tau s j * (softmax tau s i * u i))) => [|i _].
  by rewrite sumB sum_delta -mulr_sumr; ring.
by rewrite (partial_uniq (h i) (score_function tau s i j)); ring.
Qed.

End Gradient.
