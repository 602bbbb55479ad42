(* The vocabulary of the library: finite sums, deltas, simplex, divergences, softmax, derivatives.

   Claims      none; what the statements of the other files are made of
   Notation    I, J       finite index sets; 'I_m, the keys 1..m, is one
               delta i j  Kronecker's delta, sealed: opened by deltaE only
               xlogx x    x log x, 0 at 0 (ln is 0 at 0 in mathcomp-analysis)
               kl y x     y log(y/x) - y + x, one term of a divergence
               upd s j t  the vector s whose entry j is t
               is_partial f s j d    the derivative of f along entry j at s exists and is d
   References  mathcomp-analysis 0.6.0 (exp.v, derive.v, realfun.v) *)

From mathcomp Require Export all_ssreflect all_algebra ring.
From mathcomp.classical Require Export boolp classical_sets functions mathcomp_extra.
From mathcomp.analysis Require Export reals signed topology normedtype sequences derive realfun exp.

Export Order.TTheory GRing.Theory Num.Def Num.Theory.
Export numFieldNormedType.Exports.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

(* ------------------------------------------------------------------ deltas *)

Fact delta_key : unit. Proof. exact: tt. Qed.
Definition delta (R : realType) (I : eqType) (i j : I) : R := locked_with delta_key ((i == j)%:R).
Arguments delta {R I} i j.

Section Delta.
Variables (R : realType) (I : finType).
Implicit Types (i j k : I) (g : I -> R).

Lemma deltaE i j : delta i j = (i == j)%:R :> R.
Proof. by rewrite /delta unlock. Qed.

Lemma deltaC i j : delta i j = delta j i :> R.
Proof. by rewrite !deltaE eq_sym. Qed.

Lemma delta_refl i : delta i i = 1 :> R.
Proof. by rewrite deltaE eqxx. Qed.

Lemma delta_neq i j : i != j -> delta i j = 0 :> R.
Proof. by rewrite deltaE => /negbTE ->. Qed.

Lemma delta_idem i j : delta i j * delta i j = delta i j :> R.
Proof. by rewrite deltaE; case: (i == j); rewrite ?mulr1 ?mulr0. Qed.

(* delta_ij g(i, j) = delta_ij g(i, i) *)
Lemma delta_subst (h : I -> I -> R) i j : delta i j * h i j = delta i j * h i i.
Proof. by rewrite deltaE; case: eqP => [->|_] //; rewrite !mul0r. Qed.

(* sum_l delta_lj g(l) = g(j), in the four ways to write it *)
Lemma sum_delta j g : \sum_l delta l j * g l = g j.
Proof.
rewrite (bigD1 j) //= delta_refl mul1r big1 ?addr0 // => l lj.
by rewrite delta_neq // mul0r.
Qed.

Lemma sum_deltaC j g : \sum_l delta j l * g l = g j.
Proof. by rewrite -[RHS]sum_delta; apply: eq_bigr => l _; rewrite deltaC. Qed.

Lemma sum_delta_r j g : \sum_l g l * delta l j = g j.
Proof. by rewrite -[RHS]sum_delta; apply: eq_bigr => l _; rewrite mulrC. Qed.

Lemma sum_deltaC_r j g : \sum_l g l * delta j l = g j.
Proof. by rewrite -[RHS]sum_deltaC; apply: eq_bigr => l _; rewrite mulrC. Qed.

Lemma sum_delta1 j : \sum_l delta l j = 1 :> R.
Proof. by rewrite -[RHS](sum_delta j (fun=> 1)); apply: eq_bigr => l _; rewrite mulr1. Qed.

Lemma sum_delta1C j : \sum_l delta j l = 1 :> R.
Proof. by rewrite -[RHS](sum_delta1 j); apply: eq_bigr => l _; rewrite deltaC. Qed.

End Delta.

(* ------------------------------------------------------------------ sums *)

Section Sums.
Variables (R : realType) (I J : finType).
Implicit Types (f g : I -> R) (c : R).

Lemma sumD f g : \sum_i (f i + g i) = (\sum_i f i) + (\sum_i g i).
Proof. exact: big_split. Qed.

Lemma sumB f g : \sum_i (f i - g i) = (\sum_i f i) - (\sum_i g i).
Proof. exact: sumrB. Qed.

Lemma sumN f : \sum_i (- f i) = - \sum_i f i.
Proof. exact: sumrN. Qed.

Lemma sumZ c f : \sum_i (c * f i) = c * \sum_i f i.
Proof. by rewrite mulr_sumr. Qed.

Lemma sumZr c f : \sum_i (f i * c) = (\sum_i f i) * c.
Proof. by rewrite mulr_suml. Qed.

Lemma sum_cst c : \sum_(i : I) c = #|I|%:R * c.
Proof. by rewrite sumr_const mulr_natl. Qed.

Lemma sum_exchange (h : I -> J -> R) : \sum_i \sum_j h i j = \sum_j \sum_i h i j.
Proof. exact: exchange_big. Qed.

Lemma sum_pair (h : I -> J -> R) : \sum_(x : I * J) h x.1 x.2 = \sum_i \sum_j h i j.
Proof. by rewrite -(pair_bigA _ h). Qed.

Lemma sum_mul f (g : J -> R) : (\sum_i f i) * (\sum_j g j) = \sum_i \sum_j f i * g j.
Proof. by rewrite mulr_suml; apply: eq_bigr => i _; rewrite mulr_sumr. Qed.

End Sums.

Section DoubleSums.
Variables (R : realType) (I J : finType).
Implicit Types (h k : I -> J -> R) (c : R).

Lemma dsumD h k : \sum_i \sum_j (h i j + k i j) = (\sum_i \sum_j h i j) + (\sum_i \sum_j k i j).
Proof. by rewrite -sumD; apply: eq_bigr => i _; rewrite sumD. Qed.

Lemma dsumB h k : \sum_i \sum_j (h i j - k i j) = (\sum_i \sum_j h i j) - (\sum_i \sum_j k i j).
Proof. by rewrite -sumB; apply: eq_bigr => i _; rewrite sumB. Qed.

Lemma dsumZ c h : \sum_i \sum_j (c * h i j) = c * \sum_i \sum_j h i j.
Proof. by rewrite -sumZ; apply: eq_bigr => i _; rewrite sumZ. Qed.

End DoubleSums.

(* ------------------------------------------------------------------ positive sums *)

Section OrderedSums.
Variables (R : realType) (I : finType).
Implicit Types (f g : I -> R).

Lemma sum_ge0 f : (forall i, 0 <= f i) -> 0 <= \sum_i f i.
Proof. by move=> f0; apply: sumr_ge0. Qed.

Lemma sum_gt0 (i0 : I) f : (forall i, 0 < f i) -> 0 < \sum_i f i.
Proof.
move=> f0; rewrite (bigD1 i0) //= ltr_spaddl //.
by apply: sumr_ge0 => i _; exact: ltW.
Qed.

Lemma sum_eq0 f : (forall i, 0 <= f i) -> \sum_i f i = 0 -> forall i, f i = 0.
Proof.
move=> f0 sf i; apply/eqP; move/eqP: sf; rewrite psumr_eq0 // => /allP/(_ i).
by apply; rewrite mem_index_enum.
Qed.

Lemma sum_le f g : (forall i, f i <= g i) -> \sum_i f i <= \sum_i g i.
Proof. by move=> fg; apply: ler_sum. Qed.

Lemma entry_le_sum f i : (forall k, 0 <= f k) -> f i <= \sum_k f k.
Proof. by move=> f0; rewrite (bigD1 i) //= ler_addl; apply: sumr_ge0. Qed.

End OrderedSums.

(* ------------------------------------------------------------------ basic definitions *)

Definition xlogx (R : realType) (x : R) : R := x * ln x.
Definition kl (R : realType) (y x : R) : R := xlogx y - y * ln x - y + x.
Definition plus (R : realType) (x : R) : R := Num.max x 0.

Definition upd (I : eqType) (T : Type) (s : I -> T) (j : I) (t : T) : I -> T := fun i => if i == j then t else s i.

Definition is_partial (R : realType) (I : eqType) (f : (I -> R) -> R) (s : I -> R) (j : I) (d : R) : Prop :=
  is_derive (s j) (1 : R) (fun t : R => f (upd s j t)) d.

Section Definitions.
Variables (R : realType) (I : finType).
Implicit Types (p q s : I -> R) (tau : R).

Definition simplex p : Prop := (forall i, 0 <= p i) /\ \sum_i p i = 1.
Definition interior p : Prop := (forall i, 0 < p i) /\ \sum_i p i = 1.

Definition dot p q : R := \sum_i p i * q i.
Definition entropy p : R := - \sum_i xlogx (p i).
(* KL(q || p) = sum_i q_i log(q_i / p_i), for p > 0, with 0 log 0 = 0 *)
Definition KL q p : R := \sum_i q i * ln (q i / p i).

Definition partition tau s : R := \sum_l expR (s l / tau).
Definition softmax tau s (j : I) : R := expR (s j / tau) / partition tau s.
Definition lse tau s : R := tau * ln (partition tau s).

Definition quad (A : I -> I -> R) (v w : I -> R) : R := \sum_i \sum_j v i * A i j * w j.

End Definitions.

(* ------------------------------------------------------------------ exp and log on positive numbers *)

Section ExpLog.
Variable R : realType.
Implicit Types x y t : R.

Lemma pos_in x : 0 < x -> x \in Num.pos.
Proof. by rewrite posrE. Qed.

Lemma ln_mul x y : 0 < x -> 0 < y -> ln (x * y) = ln x + ln y.
Proof. by move=> x0 y0; rewrite lnM ?posrE. Qed.

Lemma ln_divp x y : 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof. by move=> x0 y0; rewrite ln_div ?posrE. Qed.

Lemma ln_inv x : 0 < x -> ln x^-1 = - ln x.
Proof. by move=> x0; rewrite lnV ?posrE. Qed.

Lemma exp_ln x : 0 < x -> expR (ln x) = x.
Proof. by move=> x0; rewrite lnK ?posrE. Qed.

Lemma ln_exp x : ln (expR x) = x.
Proof. exact: expK. Qed.

Lemma expR_neq0 x : expR x != 0.
Proof. by rewrite gt_eqF ?expR_gt0. Qed.

(* the tangent of exp at 0, by the mean value theorem: 1 + x <= e^x, with equality only at 0 *)
Lemma expR_gt1D x : x != 0 -> 1 + x < expR x.
Proof.
pose f t := expR t - t; pose df t := expR t - 1.
have fd t : is_derive t 1 f (df t) by rewrite /f /df; apply: is_deriveB.
have fc (a b : R) : {within `[a, b]%classic, continuous f}.
  apply/continuous_subspaceT => t.
  exact/differentiable_continuous/derivable1_diffP/ex_derive.
have fd' (a b t : R) : t \in `]a, b[%R -> is_derive t 1 f (df t) by [].
have f0 : f 0 = 1 by rewrite /f expR0 subr0.
suff : x != 0 -> f 0 < f x by move=> h /h; rewrite f0 /f ltr_subr_addr.
move=> x0; have [xlt0|xgt0|x0'] := ltrgtP x 0; last by rewrite x0' eqxx in x0.
- have [c] := MVT xlt0 (@fd' _ _) (@fc _ _).
  rewrite in_itv /= => /andP[_ c0] e.
  by rewrite -subr_lt0 e pmulr_llt0 ?subr_gt0 // subr_lt0 expR_lt1.
- have [c] := MVT xgt0 (@fd' _ _) (@fc _ _).
  rewrite in_itv /= => /andP[c0 _] e; rewrite -subr_gt0 e.
  by rewrite mulr_gt0 ?subr_gt0 // expR_gt1.
Qed.

Lemma expR_ge1D x : 1 + x <= expR x.
Proof. by have [->|/expR_gt1D/ltW//] := eqVneq x 0; rewrite expR0 addr0. Qed.

Lemma ln_le_sub1 x : 0 < x -> ln x <= x - 1.
Proof. by move=> x0; rewrite ler_subr_addl -{2}(exp_ln x0) expR_ge1D. Qed.

Lemma ln_lt_sub1 x : 0 < x -> x != 1 -> ln x < x - 1.
Proof.
move=> x0 x1; rewrite ltr_subr_addl -{2}(exp_ln x0) expR_gt1D //.
by apply: contra x1 => /eqP e; rewrite -(exp_ln x0) e expR0.
Qed.

End ExpLog.

(* ------------------------------------------------------------------ derivatives of one real variable, as lambda terms *)

Section Derive1.
Variable R : realType.
Implicit Types (f g : R -> R) (x df dg c : R).

Lemma is_derive_val f x df d : is_derive x 1 f df -> df = d -> is_derive x 1 f d.
Proof. by move=> h <-. Qed.

Lemma d_cst c x : is_derive x 1 (fun=> c) (0 : R).
Proof. exact: is_derive_cst. Qed.

Lemma d_id x : is_derive x 1 (fun t => t) (1 : R).
Proof. exact: is_derive_id. Qed.

Lemma d_add f g x df dg : is_derive x 1 f df -> is_derive x 1 g dg -> is_derive x 1 (fun t => f t + g t) (df + dg).
Proof. by move=> hf hg; apply: (@is_deriveD R _ _ f g x 1 df dg). Qed.

Lemma d_opp f x df : is_derive x 1 f df -> is_derive x 1 (fun t => - f t) (- df).
Proof. by move=> hf; apply: (@is_deriveN R _ _ f x 1 df). Qed.

Lemma d_sub f g x df dg : is_derive x 1 f df -> is_derive x 1 g dg -> is_derive x 1 (fun t => f t - g t) (df - dg).
Proof. by move=> hf hg; apply: (@is_deriveB R _ _ f g x 1 df dg). Qed.

Lemma d_mul f g x df dg :
  is_derive x 1 f df -> is_derive x 1 g dg -> is_derive x 1 (fun t => f t * g t) (df * g x + f x * dg).
Proof.
move=> hf hg; apply: (is_derive_val (@is_deriveM R _ f g x 1 df dg hf hg)).
by rewrite /GRing.scale /= addrC [g x * _]mulrC.
Qed.

Lemma d_mulc c f x df : is_derive x 1 f df -> is_derive x 1 (fun t => c * f t) (c * df).
Proof.
move=> hf; apply: (is_derive_val (d_mul (d_cst c x) hf)).
by rewrite mul0r add0r.
Qed.

Lemma d_mulcr c f x df : is_derive x 1 f df -> is_derive x 1 (fun t => f t * c) (df * c).
Proof.
move=> hf; apply: (is_derive_val (d_mul hf (d_cst c x))).
by rewrite mulr0 addr0.
Qed.

Lemma d_inv f x df : f x != 0 -> is_derive x 1 f df -> is_derive x 1 (fun t => (f t)^-1) (- df / f x ^+ 2).
Proof.
move=> f0 hf; apply: (is_derive_val (is_deriveV f0 hf)).
by rewrite /GRing.scale /= !mulNr mulrC.
Qed.

Lemma d_div f g x df dg : g x != 0 -> is_derive x 1 f df -> is_derive x 1 g dg ->
  is_derive x 1 (fun t => f t / g t) ((df * g x - f x * dg) / g x ^+ 2).
Proof.
move=> g0 hf hg; apply: (is_derive_val (d_mul hf (d_inv g0 hg))).
by field.
Qed.

Lemma d_exp f x df : is_derive x 1 f df -> is_derive x 1 (fun t => expR (f t)) (expR (f x) * df).
Proof. by move=> hf; apply: (@is_derive1_comp R (@expR R) f). Qed.

Lemma d_ln f x df : 0 < f x -> is_derive x 1 f df -> is_derive x 1 (fun t => ln (f t)) (df / f x).
Proof.
move=> f0 hf; rewrite mulrC.
by apply: (@is_derive1_comp R (@ln R) f) => //; exact: is_derive1_ln.
Qed.

Lemma d_sqr f x df : is_derive x 1 f df -> is_derive x 1 (fun t => f t ^+ 2) (f x * df *+ 2).
Proof.
move=> hf; move: (d_mul hf hf).
rewrite (_ : (fun t => f t * f t) = (fun t => f t ^+ 2)); last by apply/funext => t; rewrite expr2.
by move=> h; apply: (is_derive_val h); ring.
Qed.

Lemma d_sum (I : finType) (h : I -> R -> R) x (dh : I -> R) :
  (forall i, is_derive x 1 (h i) (dh i)) -> is_derive x 1 (fun t => \sum_i h i t) (\sum_i dh i).
Proof.
move=> hd; elim: (index_enum I) => [|i r IH].
  rewrite big_nil (_ : (fun t => _) = (fun=> 0)); first exact: d_cst.
  by apply/funext => t; rewrite big_nil.
rewrite big_cons (_ : (fun t => _) = (fun t => h i t + \sum_(k <- r) h k t)); first exact: d_add.
by apply/funext => t; rewrite big_cons.
Qed.

Lemma d_val f x df : is_derive x 1 f df -> derive1 f x = df.
Proof. by move=> h; rewrite derive1E derive_val. Qed.

End Derive1.

(* ------------------------------------------------------------------ vectors with one entry moved *)

Section Entries.
Variables (R : realType) (I : finType).
Implicit Types (s : I -> R) (f g : (I -> R) -> R) (i j : I).

Lemma upd_id s j : upd s j (s j) = s.
Proof. by apply/funext => i; rewrite /upd; case: eqP => [->|]. Qed.

Lemma upd_same s j t : upd s j t j = t.
Proof. by rewrite /upd eqxx. Qed.

Lemma d_entry s i j x : is_derive x (1 : R) (fun t : R => upd s j t i) (delta i j : R).
Proof. by rewrite deltaE /upd; case: (i == j); [exact: d_id | exact: d_cst]. Qed.

Lemma partial_entry s i j : is_partial (fun v => v i) s j (delta i j).
Proof. exact: d_entry. Qed.

Lemma partial_uniq f s j d e : is_partial f s j d -> is_partial f s j e -> d = e.
Proof. by move=> h h'; rewrite -(d_val h) (d_val h'). Qed.

End Entries.
