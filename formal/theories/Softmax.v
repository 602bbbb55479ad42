(* Softmax is the only solution of the one-sided entropic problem, and log-sum-exp its value.

   Claims      eot.6, eot.11, eot.13, eot.17, eot.18, eot.36, eot.77, eot.80, eot.132, eot.rem6.4, eot.rem6.5, eot.thm3.3,
               eot.thm6.3, eot.s1.argmax-proxy, eot.s3.interior-solution, eot.s3.minimum-exists, eot.s3.no-single-point,
               eot.s6.strong-duality, eot.s6.weak-duality, transport.s4.shift-invariance, beyond.gibbs
   Notation    s          scores, tau > 0 the temperature
               softmax    p*_j = e^(s_j/tau) / sum_l e^(s_l/tau)
               lse        tau log sum_l e^(s_l/tau), the potential phi*
               objective  J(p, s) = -<p, s> + tau sum_j p_j log p_j
               dual_function  g(lam) = lam - tau sum_j e^((s_j + lam - tau)/tau)
   References  the gap identity J(q) - J(p* ) = tau KL(q || p* ) (Gibbs) *)

From AttentionProofs Require Import Prelude Divergence.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Softmax.
Variables (R : realType) (I : finType).
Implicit Types (s p q : I -> R) (tau lam : R) (j k : I).

Definition objective tau s p : R := - dot p s + tau * \sum_j xlogx (p j).
Definition dual_function tau s lam : R := lam - tau * \sum_j expR ((s j + lam - tau) / tau).

Lemma partition_gt0 tau s j : 0 < partition tau s.
Proof. by apply: (sum_gt0 j) => l; exact: expR_gt0. Qed.

Lemma softmax_gt0 tau s j : 0 < softmax tau s j.
Proof. by rewrite divr_gt0 ?expR_gt0 ?(partition_gt0 tau s j). Qed.

Lemma softmax_sum1 tau s j : \sum_l softmax tau s l = 1.
Proof. by rewrite /softmax -mulr_suml mulfV // gt_eqF // (partition_gt0 tau s j). Qed.

(* claim: eot.s3.interior-solution *)
Theorem softmax_interior tau s j : interior (softmax tau s).
Proof. by split=> [l|]; [exact: softmax_gt0 | exact: softmax_sum1 j]. Qed.

Lemma softmax_simplex tau s j : simplex (softmax tau s).
Proof. exact/interiorW/softmax_interior. Qed.

(* claim: eot.80 *)
Theorem ln_softmax tau s j : ln (softmax tau s j) = s j / tau - ln (partition tau s).
Proof. by rewrite ln_divp ?expR_gt0 ?(partition_gt0 tau s j) // ln_exp. Qed.

Lemma tau_ln_softmax tau s j : tau != 0 -> tau * ln (softmax tau s j) = s j - lse tau s.
Proof. by move=> t0; rewrite ln_softmax /lse; field. Qed.

(* claim: eot.s3.no-single-point *)
Theorem softmax_lt1 tau s j k : k != j -> softmax tau s j < 1.
Proof.
move=> kj; rewrite -(softmax_sum1 tau s j) (bigD1 j) //= ltr_addl (bigD1 k) //=.
by rewrite ltr_spaddl ?softmax_gt0 // sumr_ge0 // => i _; rewrite ltW // softmax_gt0.
Qed.

(* part of: eot.s1.argmax-proxy *)
Theorem softmax_ratio tau s j k : tau != 0 -> softmax tau s j / softmax tau s k = expR ((s j - s k) / tau).
Proof.
move=> t0; rewrite mulrBl expRB /softmax.
by field; rewrite expR_neq0 gt_eqF // (partition_gt0 tau s j).
Qed.

Lemma partition_shift tau s c : partition tau (fun l => s l - c) = partition tau s / expR (c / tau).
Proof. by rewrite /partition mulr_suml; apply: eq_bigr => l _; rewrite mulrBl expRB. Qed.

(* claim: transport.s4.shift-invariance *)
Theorem softmax_shift tau s c : softmax tau (fun l => s l - c) = softmax tau s.
Proof.
apply/funext => j; rewrite /softmax partition_shift mulrBl expRB.
by field; rewrite !expR_neq0 gt_eqF // (partition_gt0 tau s j).
Qed.

Lemma lse_shift tau s c j : tau != 0 -> lse tau (fun l => s l + c) = lse tau s + c.
Proof.
move=> t0; rewrite /lse (_ : (fun l => s l + c) = (fun l => s l - - c)); last by apply/funext => l; rewrite opprK.
by rewrite partition_shift ln_divp ?expR_gt0 ?(partition_gt0 tau s j) // ln_exp; field.
Qed.

(* ---- the gap identity, and what it says *)

(* claim: beyond.gibbs *)
Lemma objective_KL tau s q j : tau != 0 -> simplex q ->
  objective tau s q = tau * KL q (softmax tau s) - lse tau s.
Proof.
move=> t0 [q0 q1]; rewrite KL_open // => [|i]; last exact: softmax_gt0.
rewrite /objective sumB mulrBr [in RHS]mulr_sumr.
rewrite [X in _ - X](_ : _ = dot q s - lse tau s); last first.
  rewrite /dot mulr_sumr (eq_bigr (fun i => q i * s i - q i * lse tau s)) => [|i _].
    by rewrite sumB -mulr_suml q1 mul1r.
  by rewrite mulrCA tau_ln_softmax // mulrBr.
by rewrite mulr_sumr; ring.
Qed.

(* claim: eot.rem6.4 *)
Theorem objective_at_softmax tau s j : tau != 0 -> lse tau s = - objective tau s (softmax tau s).
Proof.
move=> t0; rewrite (objective_KL s j t0 (softmax_simplex tau s j)).
have [_ ->] := KL_eq0 (softmax_simplex tau s j) (softmax_interior tau s j); last by [].
by rewrite mulr0 sub0r opprK.
Qed.

(* part of: eot.thm3.3 *)
Theorem gibbs_gap tau s q j : tau != 0 -> simplex q ->
  objective tau s q - objective tau s (softmax tau s) = tau * KL q (softmax tau s).
Proof.
move=> t0 sq; have := objective_at_softmax s j t0 => /(congr1 -%R); rewrite opprK => <-.
by rewrite (objective_KL s j t0 sq) opprK subrK.
Qed.

(* claim: eot.18, eot.thm3.3 *)
Theorem softmax_unique_minimizer tau s q j : 0 < tau -> simplex q ->
  objective tau s (softmax tau s) <= objective tau s q
  /\ (objective tau s q = objective tau s (softmax tau s) -> q = softmax tau s).
Proof.
move=> t0 sq; have tn0 := lt0r_neq0 t0; have gap := gibbs_gap s j tn0 sq; split.
  by rewrite -subr_ge0 gap mulr_ge0 ?(ltW t0) // KL_ge0 //; exact: softmax_interior j.
move=> e; apply/(KL_eq0 sq (softmax_interior tau s j))/(mulfI tn0).
by rewrite -gap e subrr mulr0.
Qed.

(* claim: eot.6, eot.s3.minimum-exists *)
Theorem one_solution tau s j : 0 < tau ->
  exists p, [/\ simplex p, forall q, simplex q -> objective tau s p <= objective tau s q
    & forall p', simplex p' -> (forall q, simplex q -> objective tau s p' <= objective tau s q) -> p' = p].
Proof.
move=> t0; exists (softmax tau s); have sp := softmax_simplex tau s j; split=> // [q sq|p' sp' min].
  by have [] := softmax_unique_minimizer s j t0 sq.
have [le eq] := softmax_unique_minimizer s j t0 sp'.
by apply: eq; apply/eqP; rewrite eq_le le min.
Qed.

(* claim: eot.rem6.5 *)
Theorem lse_is_conjugate tau s j : 0 < tau ->
  (forall p, simplex p -> dot p s - tau * (\sum_l xlogx (p l)) <= lse tau s)
  /\ dot (softmax tau s) s - tau * (\sum_l xlogx (softmax tau s l)) = lse tau s.
Proof.
move=> t0; have value p : dot p s - tau * (\sum_l xlogx (p l)) = - objective tau s p.
  by rewrite /objective; ring.
split=> [p sp|]; last by rewrite value (objective_at_softmax s j (lt0r_neq0 t0)).
rewrite value (objective_at_softmax s j (lt0r_neq0 t0)) ler_opp2.
by have [] := softmax_unique_minimizer s j t0 sp.
Qed.

(* Young's equality: the conjugate pair meets exactly at softmax *)
(* part of: eot.132 *)
Theorem young_equality tau s p j : 0 < tau -> simplex p ->
  (lse tau s + tau * (\sum_l xlogx (p l)) = dot p s <-> p = softmax tau s).
Proof.
move=> t0 sp; have [_ att] := lse_is_conjugate s j t0; split=> [e|->]; last by rewrite -att subrK.
have [_] := softmax_unique_minimizer s j t0 sp; apply.
have := objective_at_softmax s j (lt0r_neq0 t0) => /(congr1 -%R); rewrite opprK => <-.
by rewrite /objective -e; ring.
Qed.

(* ---- stationarity, one entry at a time *)

(* claim: eot.11 *)
Theorem stationary_log tau s p lam j : 0 < p j ->
  (- s j + tau * (ln (p j) + 1) - lam = 0 <-> tau * ln (p j) = s j + lam - tau).
Proof. by move=> _; split=> e; [rewrite -[RHS]addr0 -e; ring | rewrite mulrDr e; ring]. Qed.

(* claim: eot.13 *)
Theorem stationary_exp tau s p lam j : 0 < tau -> 0 < p j ->
  (tau * ln (p j) = s j + lam - tau <-> p j = expR (s j / tau) * expR ((lam - tau) / tau)).
Proof.
move=> t0 p0; have tn0 := lt0r_neq0 t0; rewrite -expRD -mulrDl; split=> e.
  have l : ln (p j) = (s j + (lam - tau)) / tau by apply: (mulfI tn0); rewrite e; field.
  by rewrite -l exp_ln.
by rewrite e ln_exp; field.
Qed.

(* claim: eot.17 *)
Theorem stationary_point_is_softmax tau s p lam j : 0 < tau -> interior p ->
  (forall l, - s l + tau * (ln (p l) + 1) - lam = 0) -> p = softmax tau s.
Proof.
move=> t0 [p0 p1] kkt.
have pE l : p l = expR (s l / tau) * expR ((lam - tau) / tau).
  by apply/(stationary_exp _ _ t0 (p0 l))/(stationary_log _ _ _ (p0 l)).
have ZE : partition tau s * expR ((lam - tau) / tau) = 1.
  by rewrite -p1 /partition mulr_suml; apply: eq_bigr => l _.
apply/funext => l; rewrite pE /softmax; congr (_ * _).
by rewrite -[LHS](mulKf (lt0r_neq0 (partition_gt0 tau s j))) ZE mulr1.
Qed.

(* claim: eot.77 *)
Theorem potential_normalizes tau s phi j : 0 < tau ->
  (\sum_l expR ((s l - phi) / tau) = 1 <-> phi = lse tau s).
Proof.
move=> t0; have Z0 := partition_gt0 tau s j.
rewrite -/(partition tau (fun l => s l - phi)) partition_shift.
split=> [e|->]; last first.
  by rewrite /lse mulrAC mulfV ?gt_eqF // mul1r exp_ln // mulfV // gt_eqF.
have {}e : partition tau s = expR (phi / tau) by rewrite -[LHS](divfK (expR_neq0 (phi / tau))) e mul1r.
by rewrite /lse e ln_exp mulrCA mulfV ?gt_eqF // mulr1.
Qed.

(* ---- the dual problem in one multiplier *)

Lemma dual_functionE tau s lam j : 0 < tau ->
  dual_function tau s lam = - lse tau s - tau * (expR ((lam - tau + lse tau s) / tau) - 1 - (lam - tau + lse tau s) / tau).
Proof.
move=> t0; rewrite /dual_function.
rewrite (_ : \sum_j _ = expR ((lam - tau + lse tau s) / tau)); first by field; rewrite gt_eqF.
rewrite mulrDl expRD /lse [tau * _ / tau]mulrAC mulfV ?gt_eqF // mul1r exp_ln ?(partition_gt0 tau s j) //.
by rewrite mulrC /partition mulr_suml; apply: eq_bigr => l _; rewrite -expRD; congr expR; ring.
Qed.

(* part of: eot.s6.weak-duality *)
Theorem weak_duality tau s lam q j : 0 < tau -> simplex q -> dual_function tau s lam <= objective tau s q.
Proof.
move=> t0 sq; have [le _] := softmax_unique_minimizer s j t0 sq; apply: le_trans le.
have := objective_at_softmax s j (lt0r_neq0 t0) => /(congr1 -%R); rewrite opprK => <-.
rewrite (dual_functionE _ _ j t0) ger_addl oppr_le0 mulr_ge0 ?(ltW t0) //.
by rewrite -addrA -opprD subr_ge0 expR_ge1D.
Qed.

(* claim: eot.thm6.3 *)
Theorem dual_value tau s j : 0 < tau ->
  (forall lam, dual_function tau s lam <= - lse tau s)
  /\ dual_function tau s (tau - lse tau s) = - lse tau s.
Proof.
move=> t0; split=> [lam|].
  have := weak_duality s lam j t0 (softmax_simplex tau s j).
  by have := objective_at_softmax s j (lt0r_neq0 t0) => /(congr1 -%R); rewrite opprK => <-.
rewrite (dual_functionE _ _ j t0) (_ : tau - lse tau s - tau + lse tau s = 0); last by ring.
by rewrite mul0r expR0 subrr subr0 mulr0 subr0.
Qed.

(* claim: eot.s6.strong-duality *)
Theorem strong_duality tau s j : 0 < tau ->
  dual_function tau s (tau - lse tau s) = objective tau s (softmax tau s).
Proof.
move=> t0; have [_ ->] := dual_value s j t0.
by rewrite (objective_at_softmax s j (lt0r_neq0 t0)) opprK.
Qed.

(* ---- a linear penalty moves the scores *)

End Softmax.

(* claim: eot.36 *)
Theorem linear_penalty (R : realType) (n : nat) (i j0 : 'I_n) (tau gamma : R) (s q : 'I_n -> R) :
  let away (j : 'I_n) := `|i%:R - j%:R| : R in
  let J p := - dot p s + (tau * (\sum_j xlogx (p j)) + gamma * (\sum_j p j * away j)) in
  let p := softmax tau (fun j => s j - gamma * away j) in
  0 < tau -> simplex q -> J p <= J q /\ (J q = J p -> q = p).
Proof.
move=> away J p t0 sq.
have JE r : J r = objective tau (fun j => s j - gamma * away j) r.
  rewrite /J /objective addrC -addrA addrC; congr (_ + _).
  rewrite /dot mulr_sumr addrC -sumrN -sumrN -big_split /=.
  by apply: eq_bigr => j _; ring.
rewrite !JE; exact: softmax_unique_minimizer j0 t0 sq.
Qed.
