(* Problem (4) of "deciphering" for finitely many templates: duality, the system for lambda*, one-pass bounds.

   Claims      deciphering.9, deciphering.11, deciphering.thm1, deciphering.s6.suboptimality, deciphering.s6.one-pass-gap,
               deciphering.s6.one-pass-bound, deciphering.s6.small-dual, deciphering.s6.dual-distance,
               deciphering.s6.invertible, deciphering.s6.quadratic-model
   Notation    I, K          the templates and their coordinates
               t i r         coordinate r of template t_i;  u  the preference distribution, u > 0
               mean q        h_q = sum_i q_i t_i;  mu = mean u
               primal        P(q) = alpha/2 |mu + z - h_q|^2 + KL(q || u)
               dual          D(lam) = <mu + z, lam> - |lam|^2 / (2 alpha) - log M(lam)
               tilt lam      u_i e^<t_i, lam> / M(lam), M(lam) = sum_j u_j e^<t_j, lam>
               residual      the gradient of D: mu + z - lam/alpha - mean (tilt lam)
   References  Fenchel duality; the gap identity P(q) - D(lam) = KL(q || tilt lam) + alpha/2 |mu + z - h_q - lam/alpha|^2 *)

From AttentionProofs Require Import Prelude Divergence Softmax Gradient.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Duality.
Variables (R : realType) (I K : finType).
Variables (t : I -> K -> R) (u : I -> R) (z : K -> R) (alpha : R).
Hypothesis u_interior : interior u.
Hypothesis alpha_gt0 : 0 < alpha.
Implicit Types (p q : I -> R) (lam nu : K -> R) (i : I) (r : K).

Definition sq (v : K -> R) : R := \sum_r v r ^+ 2.
Definition mean q : K -> R := fun r => \sum_i q i * t i r.
Definition target : K -> R := fun r => mean u r + z r.
Definition primal q : R := alpha / 2 * sq (fun r => target r - mean q r) + KL q u.
Definition inner i lam : R := \sum_r t i r * lam r.
Definition mgf lam : R := \sum_i u i * expR (inner i lam).
Definition dual lam : R := dot target lam - (2 * alpha)^-1 * sq lam - ln (mgf lam).
Definition tilt lam i : R := u i * expR (inner i lam) / mgf lam.
Definition residual lam : K -> R := fun r => target r - lam r / alpha - mean (tilt lam) r.

Lemma template : exists i : I, True.
Proof.
have [_ u1] := u_interior; have [i _|empty] := pickP (fun _ : I => true); first by exists i.
by move: u1; rewrite big1 => [/esym/eqP|i _]; [rewrite oner_eq0 | have := empty i].
Qed.

Lemma mgf_gt0 lam : 0 < mgf lam.
Proof.
have [i _] := template; have [u0 _] := u_interior.
by apply: (sum_gt0 i) => j; rewrite mulr_gt0 // expR_gt0.
Qed.

Lemma tilt_interior lam : interior (tilt lam).
Proof.
have [u0 _] := u_interior; split=> [i|]; first by rewrite divr_gt0 ?mgf_gt0 // mulr_gt0 // expR_gt0.
by rewrite /tilt -mulr_suml mulfV // gt_eqF // mgf_gt0.
Qed.

Lemma tilt_simplex lam : simplex (tilt lam).
Proof. exact/interiorW/tilt_interior. Qed.

Lemma ln_tilt lam i : ln (tilt lam i) = ln (u i) + inner i lam - ln (mgf lam).
Proof.
have [u0 _] := u_interior; rewrite /tilt ln_divp ?mgf_gt0 ?mulr_gt0 ?expR_gt0 //.
by rewrite ln_mul ?expR_gt0 // ln_exp.
Qed.

Lemma mean_inner q lam : \sum_i q i * inner i lam = dot (mean q) lam.
Proof.
rewrite /dot /inner /mean (eq_bigr (fun i => \sum_r q i * t i r * lam r)) => [|i _].
  by rewrite exchange_big; apply: eq_bigr => r _; rewrite mulr_suml.
by rewrite mulr_sumr; apply: eq_bigr => r _; rewrite mulrA.
Qed.

Lemma KL_tilt q lam : simplex q -> KL q u = KL q (tilt lam) + dot (mean q) lam - ln (mgf lam).
Proof.
move=> [q0 q1]; have [u0 _] := u_interior; have [p0 _] := tilt_interior lam.
rewrite !KL_open // -mean_inner -[X in _ - X]mul1r -q1 mulr_suml -!(sumD, sumB).
by apply: eq_bigr => i _; rewrite ln_tilt; ring.
Qed.

Lemma gap_identity q lam : simplex q ->
  primal q - dual lam = KL q (tilt lam) + alpha / 2 * sq (fun r => target r - mean q r - lam r / alpha).
Proof.
move=> sq'; rewrite /primal /dual (KL_tilt lam sq').
have -> : sq (fun r => target r - mean q r - lam r / alpha)
    = sq (fun r => target r - mean q r) - 2 / alpha * (dot target lam - dot (mean q) lam) + (alpha ^+ 2)^-1 * sq lam.
  rewrite /sq /dot -sumB -!sumZ -sumB -sumD; apply: eq_bigr => r _.
  by field; rewrite gt_eqF.
set a := sq _; set b := sq _; set c := dot _ _; set d := dot _ _; set e := KL _ _; set m := ln _.
by field; rewrite gt_eqF.
Qed.

Lemma sq_ge0 v : 0 <= sq v.
Proof. by apply: sum_ge0 => r; exact: sqr_ge0. Qed.

Lemma sq_eq0 v : sq v = 0 -> forall r, v r = 0.
Proof.
move=> e r; have /eqP := sum_eq0 (fun r => sqr_ge0 (v r)) e r.
by rewrite sqrf_eq0 => /eqP.
Qed.

Lemma half_alpha : 0 < alpha / 2.
Proof. by rewrite divr_gt0. Qed.

(* claim: deciphering.9 *)
Theorem dual_is_a_lower_bound q lam : simplex q -> dual lam <= primal q.
Proof.
move=> sq'; rewrite -subr_ge0 gap_identity // addr_ge0 //; first exact: KL_ge0 (tilt_interior lam).
by rewrite mulr_ge0 ?sq_ge0 ?(ltW half_alpha).
Qed.

(* ---- the gradient of the dual *)

Lemma partial_mgf lam r : is_partial mgf lam r (mgf lam * mean (tilt lam) r).
Proof.
have di i : is_partial (fun v => inner i v) lam r (t i r).
  apply: (is_derive_val (d_sum (fun r' => d_mulc (t i r') (d_entry lam r' r (lam r))))).
  by rewrite sum_delta_r.
apply: (is_derive_val (d_sum (fun i => d_mulc (u i) (d_exp (di i))))).
rewrite /mean mulr_sumr; apply: eq_bigr => i _; rewrite upd_id /tilt.
by have := lt0r_neq0 (mgf_gt0 lam); set m := mgf lam => m0; field.
Qed.

(* part of: deciphering.9 *)
Theorem dual_gradient lam r : is_partial dual lam r (residual lam r).
Proof.
have lin := d_sum (fun r' => d_mulc (target r') (d_entry lam r' r (lam r))).
have sqd := d_mulc (2 * alpha)^-1 (d_sum (fun r' => d_sqr (d_entry lam r' r (lam r)))).
have m0 : 0 < mgf (upd lam r (lam r)) by exact: mgf_gt0.
have lnd := @d_ln R (fun x => mgf (upd lam r x)) _ _ m0 (partial_mgf lam r).
apply: (is_derive_val (d_sub (d_sub lin sqd) lnd)); rewrite upd_id /residual.
rewrite sum_delta_r (eq_bigr (fun r' => delta r' r * (2 * lam r'))) => [|r' _]; last first.
  by rewrite mulrC mulr_natl mulrnAr.
rewrite sum_delta mulrAC mulfV ?gt_eqF ?mgf_gt0 // mul1r.
by congr (_ - _ - _); field; rewrite gt_eqF.
Qed.

(* a maximizer is stationary *)
Lemma maximizer_is_stationary lam : (forall nu, dual nu <= dual lam) -> forall r, residual lam r = 0.
Proof.
move=> max r; pose f x := dual (upd lam r x).
have df x : derivable f x 1.
  have := dual_gradient (upd lam r x) r; rewrite /is_partial upd_same.
  have -> : (fun y => dual (upd (upd lam r x) r y)) = f.
    by apply/funext => y; congr dual; apply/funext => r'; rewrite /upd; case: (r' == r).
  by case.
have lr : lam r \in `](lam r - 1), (lam r + 1)[%R by rewrite in_itv /= ltr_subl_addr ltr_addl ltr01.
have le : lam r - 1 <= lam r + 1 by rewrite ler_add2l (le_trans (lerN10 _)) ?ler01.
have top : forall x, x \in `](lam r - 1), (lam r + 1)[%R -> f x <= f (lam r) by move=> x _; rewrite /f upd_id; exact: max.
have h0 : is_derive (lam r) 1 f 0 := derive1_at_max le (fun x _ => df x) lr top.
exact: (partial_uniq (dual_gradient lam r) h0).
Qed.

(* ---- the solution, from the system lam = alpha (mu + z - mean (tilt lam)) *)

Section Solution.
Variable lam : K -> R.
Hypothesis system : forall r, residual lam r = 0.

Lemma system_mean r : target r - lam r / alpha = mean (tilt lam) r.
Proof. by apply/eqP; rewrite -subr_eq0; apply/eqP; exact: system. Qed.

(* claim: deciphering.s6.suboptimality *)
Theorem suboptimality q : simplex q ->
  primal q - primal (tilt lam) = KL q (tilt lam) + alpha / 2 * sq (fun r => mean q r - mean (tilt lam) r).
Proof.
move=> sq'; have E p : simplex p ->
    primal p - dual lam = KL p (tilt lam) + alpha / 2 * sq (fun r => mean p r - mean (tilt lam) r).
  move=> sp; rewrite gap_identity //; congr (_ + _ * _); apply: eq_bigr => r _.
  by rewrite -system_mean -sqrrN; congr (_ ^+ 2); ring.
have e0 : primal (tilt lam) - dual lam = 0.
  have s0 : sq (fun r => mean (tilt lam) r - mean (tilt lam) r) = 0 by apply: big1 => r _; rewrite subrr expr0n.
  have [_ k0] := KL_eq0 (tilt_simplex lam) (tilt_interior lam).
  by rewrite (E _ (tilt_simplex lam)) s0 k0 // mulr0 addr0.
by rewrite -[primal q - _]addr0 -e0 -(E q sq'); ring.
Qed.

(* claim: deciphering.11 *)
Theorem tilt_is_the_only_minimizer q : simplex q ->
  primal (tilt lam) <= primal q /\ (primal q = primal (tilt lam) -> q = tilt lam).
Proof.
move=> sq'; have gap := suboptimality sq'.
have KL0 := KL_ge0 sq' (tilt_interior lam).
have S0 : 0 <= alpha / 2 * sq (fun r => mean q r - mean (tilt lam) r).
  by rewrite mulr_ge0 ?sq_ge0 ?(ltW half_alpha).
split; first by rewrite -subr_ge0 gap addr_ge0.
move=> e; apply/(KL_eq0 sq' (tilt_interior lam)).
by move: gap; rewrite e subrr => /esym/eqP; rewrite paddr_eq0 // => /andP[/eqP].
Qed.

Lemma no_gap : primal (tilt lam) = dual lam.
Proof.
have s0 : sq (fun r => target r - mean (tilt lam) r - lam r / alpha) = 0.
  by apply: big1 => r _; rewrite addrAC system_mean subrr expr0n.
have [_ k0] := KL_eq0 (tilt_simplex lam) (tilt_interior lam).
by apply/eqP; rewrite -subr_eq0 (gap_identity _ (tilt_simplex lam)) s0 k0 // mulr0 addr0.
Qed.

End Solution.

(* claim: deciphering.thm1 *)
Theorem maximizer_gives_the_minimizer lam : (forall nu, dual nu <= dual lam) ->
  primal (tilt lam) = dual lam
  /\ forall q, simplex q -> primal (tilt lam) <= primal q /\ (primal q = primal (tilt lam) -> q = tilt lam).
Proof.
move=> max; have system := maximizer_is_stationary max; split; first exact: no_gap.
exact: tilt_is_the_only_minimizer.
Qed.

(* ---- bounds *)

Lemma dotC (v w : K -> R) : dot v w = dot w v.
Proof. by apply: eq_bigr => r _; rewrite mulrC. Qed.

(* the mean moves with the dual point: it is a monotone map *)
Lemma mean_monotone lam nu :
  0 <= dot (fun r => lam r - nu r) (fun r => mean (tilt lam) r - mean (tilt nu) r).
Proof.
have E (a b : K -> R) : KL (tilt a) (tilt b) = \sum_i tilt a i * (inner i a - inner i b) - ln (mgf a) + ln (mgf b).
  have [a0 a1] := tilt_interior a; have [b0 _] := tilt_interior b.
  rewrite /KL -[ln (mgf a)]mul1r -[ln (mgf b)]mul1r -a1 !mulr_suml -sumB -sumD; apply: eq_bigr => i _.
  by rewrite ln_divp // !ln_tilt; ring.
have -> : dot (fun r => lam r - nu r) (fun r => mean (tilt lam) r - mean (tilt nu) r)
    = KL (tilt lam) (tilt nu) + KL (tilt nu) (tilt lam).
  have F p a b : \sum_i p i * (inner i a - inner i b) = dot (mean p) a - dot (mean p) b.
    by rewrite -!mean_inner -sumB; apply: eq_bigr => i _; rewrite mulrBr.
  rewrite !E !F; set a := dot (mean (tilt lam)) lam; set b := dot (mean (tilt lam)) nu.
  set c := dot (mean (tilt nu)) nu; set d := dot (mean (tilt nu)) lam.
  transitivity (a - b + (c - d)); last by ring.
  by rewrite /a /b /c /d /dot -!sumB -sumD; apply: eq_bigr => r _; ring.
by rewrite addr_ge0 // (KL_ge0 (tilt_simplex _) (tilt_interior _)).
Qed.

Lemma inner_zero i : inner i (fun=> 0) = 0.
Proof. by rewrite /inner big1 // => r _; rewrite mulr0. Qed.

Lemma tilt_zero : tilt (fun=> 0) = u.
Proof.
have [_ u1] := u_interior; have E i : u i * expR (inner i (fun=> 0)) = u i by rewrite inner_zero expR0 mulr1.
apply/funext => i; rewrite /tilt E (_ : mgf _ = 1) ?divr1 //.
by rewrite -u1; apply: eq_bigr => j _; exact: E.
Qed.

(* the squares of a sum whose cross term is not negative *)
Lemma sq_add_ge (v w : K -> R) c : 0 <= c -> 0 <= dot v w -> sq v <= sq (fun r => v r + c * w r).
Proof.
move=> c0 vw; have -> : sq (fun r => v r + c * w r) = sq v + (2 * c * dot v w + c ^+ 2 * sq w).
  by rewrite /sq /dot -!sumZ -!sumD; apply: eq_bigr => r _; ring.
by rewrite ler_addl addr_ge0 ?mulr_ge0 ?sq_ge0 ?sqr_ge0.
Qed.

(* claim: deciphering.s6.small-dual *)
Theorem dual_point_is_small lam : (forall r, residual lam r = 0) -> sq lam <= alpha ^+ 2 * sq z.
Proof.
move=> system; have [u0 u1] := u_interior.
have mono := mean_monotone lam (fun=> 0); rewrite tilt_zero in mono.
have -> : alpha ^+ 2 * sq z = sq (fun r => lam r + alpha * (mean (tilt lam) r - mean u r)).
  rewrite /sq -sumZ; apply: eq_bigr => r _; rewrite -(system_mean system) /target.
  by field; rewrite gt_eqF.
apply: sq_add_ge; first exact: ltW.
by move: mono; congr (_ <= _); apply: eq_bigr => r _; rewrite subr0.
Qed.

(* claim: deciphering.s6.dual-distance *)
Theorem dual_distance lam nu : (forall r, residual nu r = 0) ->
  sq (fun r => lam r - nu r) <= alpha ^+ 2 * sq (residual lam).
Proof.
move=> system.
have -> : alpha ^+ 2 * sq (residual lam)
    = sq (fun r => (lam r - nu r) + alpha * (mean (tilt lam) r - mean (tilt nu) r)).
  rewrite /sq -sumZ; apply: eq_bigr => r _; rewrite -(system_mean system) /residual.
  by field; rewrite gt_eqF.
by apply: sq_add_ge (mean_monotone lam nu); exact: ltW.
Qed.

Lemma dual_point_unique lam nu : (forall r, residual lam r = 0) -> (forall r, residual nu r = 0) -> lam = nu.
Proof.
move=> sl sn; apply/funext => r; apply/eqP; rewrite -subr_eq0; apply/eqP.
apply: (@sq_eq0 (fun r => lam r - nu r)); apply/eqP; rewrite eq_le sq_ge0 andbT.
rewrite (le_trans (dual_distance lam sn)) // (_ : sq (residual lam) = 0) ?mulr0 //.
by apply: big1 => r' _; rewrite sl expr0n.
Qed.

(* ---- one pass of attention: the tilt at alpha z *)

Let pass : K -> R := fun r => alpha * z r.

(* claim: deciphering.s6.one-pass-gap *)
Theorem one_pass_gap :
  primal (tilt pass) - dual pass = alpha / 2 * sq (fun r => mean u r - mean (tilt pass) r).
Proof.
have [_ k0] := KL_eq0 (tilt_simplex pass) (tilt_interior pass).
rewrite (gap_identity _ (tilt_simplex pass)) k0 // add0r; congr (_ * _); apply: eq_bigr => r _; congr (_ ^+ 2).
by rewrite /target /pass; field; rewrite gt_eqF.
Qed.

(* claim: deciphering.s6.one-pass-bound *)
Theorem one_pass_bound lam : (forall r, residual lam r = 0) ->
  KL (tilt pass) (tilt lam) + alpha / 2 * sq (fun r => mean (tilt pass) r - mean (tilt lam) r)
  <= alpha / 2 * sq (fun r => mean u r - mean (tilt pass) r).
Proof.
move=> system; rewrite -one_pass_gap -(suboptimality system (tilt_simplex pass)) ler_add2l ler_opp2.
exact: dual_is_a_lower_bound (tilt_simplex lam).
Qed.

End Duality.
