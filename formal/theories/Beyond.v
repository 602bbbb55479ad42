(* What the documents could have said besides: exact identities and sharp bounds about attention.

   Claims      beyond.one-pass-optimal, beyond.any-query-gap, beyond.dual-monotone, beyond.jacobian-entry, beyond.natural-step,
               beyond.merge
   Notation    as in Duality.v and Softmax.v; residual lam is the gradient of the dual at lam
   References  the gap identity P(q) - D(lam) = KL(q || tilt lam) + alpha/2 |mu + z - h_q - lam/alpha|^2 *)

From AttentionProofs Require Import Prelude Divergence Softmax Gradient Duality.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Queries.
Variables (R : realType) (I K : finType).
Variables (t : I -> K -> R) (u : I -> R) (z : K -> R) (alpha : R).
Hypothesis u_interior : interior u.
Implicit Types (q : I -> R) (lam nu : K -> R).

(* attention with the query lam = alpha z is the only minimizer of KL(q || u) - <lam, h_q>, for every alpha *)
(* claim: beyond.one-pass-optimal *)
Theorem one_pass_is_optimal lam q : simplex q -> let p := tilt t u lam in
  KL p u - dot (mean t p) lam <= KL q u - dot (mean t q) lam
  /\ (KL q u - dot (mean t q) lam = KL p u - dot (mean t p) lam -> q = p).
Proof.
move=> sq' p; have sp : simplex p by exact: tilt_simplex.
have E r : simplex r -> KL r u - dot (mean t r) lam = KL r p - ln (mgf t u lam).
  by move=> sr; rewrite (KL_tilt t u_interior lam sr) -/p; ring.
have [_ k0] := KL_eq0 sp (tilt_interior t u_interior lam); rewrite (E q sq') (E p sp) k0 // sub0r; split.
  by rewrite -[X in X <= _]add0r ler_add2r; exact: KL_ge0 (tilt_interior t u_interior lam).
move=> e; have {}e : KL q p = 0 by rewrite -[LHS](subrK (ln (mgf t u lam))) e addNr.
by have [/(_ e)] := KL_eq0 sq' (tilt_interior t u_interior lam).
Qed.

Hypothesis alpha_gt0 : 0 < alpha.

(* claim: beyond.any-query-gap *)
Theorem gap_of_any_query lam :
  primal t u z alpha (tilt t u lam) - dual t u z alpha lam = alpha / 2 * sq (residual t u z alpha lam).
Proof.
have sp := tilt_simplex t u_interior lam; have [_ k0] := KL_eq0 sp (tilt_interior t u_interior lam).
rewrite (gap_identity t z u_interior alpha_gt0 lam sp) k0 // add0r; congr (_ * _).
by apply: eq_bigr => r _; rewrite /residual addrAC.
Qed.

(* <lam - nu, h_lam - h_nu> is both divergences: the exact query is a monotone function of the evidence *)
Lemma means_and_divergences lam nu :
  dot (fun r => lam r - nu r) (fun r => mean t (tilt t u lam) r - mean t (tilt t u nu) r)
  = KL (tilt t u lam) (tilt t u nu) + KL (tilt t u nu) (tilt t u lam).
Proof.
have D a b : KL (tilt t u a) (tilt t u b)
    = KL (tilt t u a) u - dot (mean t (tilt t u a)) b + ln (mgf t u b).
  by rewrite (KL_tilt t u_interior b (tilt_simplex t u_interior a)); ring.
have Z a : KL (tilt t u a) u = dot (mean t (tilt t u a)) a - ln (mgf t u a).
  have [_ k0] := KL_eq0 (tilt_simplex t u_interior a) (tilt_interior t u_interior a).
  by rewrite (KL_tilt t u_interior a (tilt_simplex t u_interior a)) k0 // add0r.
rewrite !D !Z; set x := ln _; set y := ln _.
transitivity (dot (mean t (tilt t u lam)) lam - dot (mean t (tilt t u lam)) nu
    + (dot (mean t (tilt t u nu)) nu - dot (mean t (tilt t u nu)) lam)); last by ring.
by rewrite /dot -!sumB -sumD; apply: eq_bigr => r _; ring.
Qed.

(* lam and nu maximize the duals of two evidences z and z' *)
(* claim: beyond.dual-monotone *)
Theorem dual_monotone z' lam nu :
  (forall r, residual t u z alpha lam r = 0) -> (forall r, residual t u z' alpha nu r = 0) ->
  dot (fun r => z r - z' r) (fun r => lam r - nu r)
  = alpha^-1 * sq (fun r => lam r - nu r) + (KL (tilt t u lam) (tilt t u nu) + KL (tilt t u nu) (tilt t u lam)).
Proof.
move=> s1 s2; rewrite -means_and_divergences /dot /sq -sumZ -sumD; apply: eq_bigr => r _.
have e1 : z r = lam r / alpha + mean t (tilt t u lam) r - mean t u r.
  by rewrite -[LHS]subr0 -(s1 r) /residual /target; ring.
have e2 : z' r = nu r / alpha + mean t (tilt t u nu) r - mean t u r.
  by rewrite -[LHS]subr0 -(s2 r) /residual /target; ring.
by rewrite e1 e2; ring.
Qed.

End Queries.

Section Weights.
Variables (R : realType) (I J : finType).
Implicit Types (s u v p : I -> R) (tau eta : R).

(* claim: beyond.jacobian-entry *)
Theorem largest_entry tau p j : 0 < tau -> p j * (1 - p j) / tau <= 1 / (4 * tau).
Proof.
move=> t0; rewrite -subr_ge0 (_ : _ - _ = (p j - 2^-1) ^+ 2 / tau); last by field; rewrite gt_eqF.
by rewrite divr_ge0 ?sqr_ge0 // ltW.
Qed.

(* a natural gradient step of the scores is a step of multiplicative weights *)
(* claim: beyond.natural-step *)
Theorem natural_step tau eta s u j : tau != 0 ->
  softmax tau (fun l => s l + eta * tau * u l) j
  = softmax tau s j * expR (eta * u j) / \sum_l softmax tau s l * expR (eta * u l).
Proof.
move=> t0; have Z0 := partition_gt0 tau s j.
have E l : expR ((s l + eta * tau * u l) / tau) = partition tau s * (softmax tau s l * expR (eta * u l)).
  rewrite /softmax [_ * (_ / _ * _)]mulrA [partition _ _ * _]mulrC divfK ?gt_eqF // -expRD.
  by congr expR; field.
rewrite {1}/softmax {1}/partition E (eq_bigr (fun l => partition tau s * (softmax tau s l * expR (eta * u l)))) //.
by rewrite -mulr_sumr -mulf_div mulfV ?gt_eqF // mul1r.
Qed.

(* the output over two tiles of keys is the mean of both outputs, by their masses *)
(* claim: beyond.merge *)
Theorem outputs_merge tau s (s' : J -> R) v (v' : J -> R) (i : I) (j : J) :
  let all (k : I + J) := match k with inl x => s x | inr y => s' y end in
  let value (k : I + J) := match k with inl x => v x | inr y => v' y end in
  let w := partition tau s / (partition tau s + partition tau s') in
  \sum_k softmax tau all k * value k
  = w * (\sum_l softmax tau s l * v l) + (1 - w) * (\sum_l softmax tau s' l * v' l).
Proof.
move=> all value w; have Z0 := partition_gt0 tau s i; have Z0' := partition_gt0 tau s' j.
have E : partition tau all = partition tau s + partition tau s' by rewrite /partition big_sumType.
have sum0 : partition tau s + partition tau s' != 0 by rewrite gt_eqF // addr_gt0.
have w' : 1 - w = partition tau s' / (partition tau s + partition tau s') by rewrite /w; field.
rewrite w' big_sumType /= !mulr_sumr /w.
by congr (_ + _); apply: eq_bigr => l _; rewrite /softmax E /=; field; rewrite sum0 gt_eqF.
Qed.

End Weights.
