(* Backpropagation: the gradient of any differentiable loss in the scores is an advantage.

   Claims      eot.45, eot.46, eot.48, eot.64, eot.rem5.3, eot.s5.advantage
   Notation    is_gradient L p g  L is Frechet differentiable at p with gradient g: |L(q) - L(p) - <g, q - p>| is
                                  at most e |q - p| for q close to p, for every e > 0
               V k r              coordinate r of the value vector of key k
               context V p        c(p) = sum_k p_k v_k
               u                  marginal utilities, minus the gradient of the loss in the weights
   References  Caratheodory's criterion in one variable (realfun.v) *)

From AttentionProofs Require Import Prelude Divergence Softmax Gradient.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Frechet.
Variables (R : realType) (I : finType).
Implicit Types (p q g : I -> R) (L : (I -> R) -> R).

Definition is_gradient L p g : Prop :=
  forall e, 0 < e -> exists2 r, 0 < r &
    forall q, (forall k, `|q k - p k| < r) -> `|L q - L p - \sum_k g k * (q k - p k)| <= e * \sum_k `|q k - p k|.

Lemma continuous_near (G : R -> R) (x : R) :
  {for x, continuous G} <-> (forall e, 0 < e -> \forall t \near x, `|G x - G t| < e).
Proof.
have FF : Filter (nbhs x) by exact: nbhs_filter.
split=> [h e e0|h].
  have := (@cvgrPdist_lt R [normedModType R of R^o] R (nbhs x) FF G (G x)).1 h e e0.
  exact.
by apply/(@cvgrPdist_lt R [normedModType R of R^o] R (nbhs x) FF G (G x)).
Qed.

Lemma continuous_sum (c : I -> R -> R) (x : R) (F : R -> R) :
  (forall k, {for x, continuous (c k)}) -> (forall t, F t = \sum_k c k t) -> {for x, continuous F}.
Proof.
move=> cc; elim: (index_enum I) F => [|k r IH] F FE.
  have -> : F = (fun=> F x) by apply/funext => t; rewrite !FE !big_nil.
  exact: cst_continuous.
pose G t := F t - c k t.
have cG : {for x, continuous G} by apply: IH => t; rewrite /G FE big_cons addrC addKr.
have -> : F = c k + G by apply/funext => t; rewrite /G /= addrC subrK.
by apply: continuousD; [exact: cc | exact: cG].
Qed.

Lemma chain_rule (gamma : R -> I -> R) (x : R) (d : I -> R) L g :
  (forall k, is_derive x 1 (fun t => gamma t k) (d k)) -> is_gradient L (gamma x) g ->
  is_derive x 1 (fun t => L (gamma t)) (\sum_k g k * d k).
Proof.
move=> hd hL; have /boolp.choice [c cP] : forall k, exists h : R -> R,
    [/\ forall z, gamma z k - gamma x k = h z * (z - x), {for x, continuous h} & h x = d k].
  by move=> k; have /is_derive1_caratheodory := hd k.
pose S t := \sum_k `|c k t|; pose T t := \sum_k g k * c k t; set D := \sum_k g k * d k.
have cS : {for x, continuous S}.
  apply: (@continuous_sum (fun k t => `|c k t|)) => // k.
  by have [_ h _] := cP k; exact: (cvg_norm h).
have cT : {for x, continuous T}.
  apply: (@continuous_sum (fun k t => g k * c k t)) => // k.
  by have [_ h _] := cP k; exact: (cvgM (cvg_cst (g k)) h).
have TxD : T x = D by apply: eq_bigr => k _; have [_ _ ->] := cP k.
pose G t := if t == x then D else (L (gamma t) - L (gamma x)) / (t - x).
apply/is_derive1_caratheodory; exists G; split; last by rewrite /G eqxx.
  move=> z; rewrite /G; have [->|zx] := eqVneq z x; first by rewrite !subrr mulr0.
  by rewrite divfK // subr_eq0.
have S0 : 0 < S x + 1 by rewrite ltr_spaddr // sum_ge0.
have GxD : G x = D by rewrite /G eqxx.
apply/continuous_near; rewrite GxD => e e0.
have e1 : 0 < e / 2 / (S x + 1) by rewrite !divr_gt0.
have [r r0 hr] := hL _ e1.
near=> t.
rewrite /G; have [_|tx] := eqVneq t x; first by rewrite subrr normr0.
have h0 : t - x != 0 by rewrite subr_eq0.
have St : S t < S x + 1.
  rewrite -ltr_subl_addl (le_lt_trans (ler_norm _)) // distrC; near: t.
  by have /continuous_near := cS; apply.
have Tt : `|D - T t| < e / 2.
  by rewrite -TxD; near: t; have /continuous_near := cT; apply; rewrite divr_gt0.
have tr : `|t - x| < r / (S x + 1).
  by rewrite distrC; near: t; apply/nbhs_ballP; exists (r / (S x + 1)); rewrite /= ?divr_gt0.
have gk k : gamma t k - gamma x k = c k t * (t - x) by have [-> _ _] := cP k.
have cSt k : `|c k t| <= S t by apply: (entry_le_sum k) => l; exact: normr_ge0.
have close k : `|gamma t k - gamma x k| < r.
  rewrite gk normrM (le_lt_trans (ler_wpmul2r (normr_ge0 _) (cSt k))) //.
  have [->|Sn] := eqVneq (S t) 0; first by rewrite mul0r.
  have Sp : 0 < S t by rewrite lt_neqAle eq_sym Sn sum_ge0.
  rewrite (lt_trans (_ : _ < S t * (r / (S x + 1)))) ?ltr_pmul2l //.
  by rewrite mulrA ltr_pdivr_mulr // mulrC ltr_pmul2l.
have sumD' : \sum_k g k * (gamma t k - gamma x k) = T t * (t - x).
  by rewrite mulr_suml; apply: eq_bigr => k _; rewrite gk mulrA.
have sumN' : \sum_k `|gamma t k - gamma x k| = S t * `|t - x|.
  by rewrite mulr_suml; apply: eq_bigr => k _; rewrite gk normrM.
have := hr _ close; rewrite sumD' sumN' => hL'.
rewrite (_ : D - _ = (D - T t) - (L (gamma t) - L (gamma x) - T t * (t - x)) / (t - x)); last by field.
rewrite (le_lt_trans (ler_norm_sub _ _)) // [e]splitr ltr_le_add //.
rewrite normrM normfV ler_pdivr_mulr ?normr_gt0 //.
rewrite (le_trans hL') // mulrA ler_wpmul2r // mulrAC ler_pdivr_mulr // ler_wpmul2l ?ltW ?divr_gt0 //.
Unshelve. all: by end_near.
Qed.

End Frechet.

Section Backpropagation.
Variables (R : realType) (I : finType).
Implicit Types (s p u : I -> R) (tau : R) (j k : I) (L : (I -> R) -> R).

(* claim: eot.48 *)
Theorem loss_chain_rule tau s u j L (dp : I -> R) :
  is_gradient L (softmax tau s) (fun k => - u k) ->
  (forall k, is_partial (fun v => softmax tau v k) s j (dp k)) ->
  is_partial (fun v => L (softmax tau v)) s j (- \sum_k u k * dp k).
Proof.
move=> hL hp; rewrite -sumrN; under eq_bigr do rewrite -mulNr.
apply: (@chain_rule _ _ (fun t => softmax tau (upd s j t))) => [k|]; first exact: hp.
by rewrite upd_id.
Qed.

(* claim: eot.46 *)
Theorem score_gradient tau s u j L :
  is_gradient L (softmax tau s) (fun k => - u k) ->
  is_partial (fun v => L (softmax tau v)) s j
    (- (softmax tau s j / tau) * (u j - \sum_k softmax tau s k * u k)).
Proof.
move=> hL; apply: (partial_val (loss_chain_rule hL (jacobian tau s j))).
rewrite [X in - X](eq_bigr (fun k => delta k j * (tau^-1 * (u k * softmax tau s k))
    - tau^-1 * softmax tau s j * (softmax tau s k * u k))) => [|k _]; last by ring.
by rewrite sumB sum_delta -mulr_sumr; ring.
Qed.

(* the descent direction raises exactly the scores whose utility is above the mean *)
(* claim: eot.rem5.3 *)
Theorem scores_rise_with_the_advantage tau s u j L d :
  0 < tau -> is_gradient L (softmax tau s) (fun k => - u k) ->
  is_partial (fun v => L (softmax tau v)) s j d ->
  (0 < - d) = (0 < u j - \sum_k softmax tau s k * u k).
Proof.
move=> t0 hL hd; rewrite (partial_uniq hd (score_gradient j hL)) mulNr opprK pmulr_rgt0 //.
by rewrite divr_gt0 // softmax_gt0.
Qed.

End Backpropagation.

Section ValueVectors.
Variables (R : realType) (I : finType) (d : nat).
Implicit Types (s p u : I -> R) (tau : R) (j k : I) (V : I -> 'I_d -> R) (g : 'I_d -> R).

Definition context V p : 'I_d -> R := fun r => \sum_k p k * V k r.

(* claim: eot.45 *)
Theorem marginal_utility V p g (ell : ('I_d -> R) -> R) : is_gradient ell (context V p) g ->
  is_gradient (fun q => ell (context V q)) p (fun k => \sum_r g r * V k r).
Proof.
move=> hl e e0; pose B := (\sum_r \sum_k `|V k r|) + 1.
have B0 : 0 < B by rewrite ltr_spaddr // sum_ge0 // => r; rewrite sum_ge0.
have [r0 r0p hr] := hl (e / B) (divr_gt0 e0 B0).
have rB q r : context V q r - context V p r = \sum_k V k r * (q k - p k).
  by rewrite /context -sumB; apply: eq_bigr => k _; ring.
have entry k r : `|V k r| <= B.
  have h1 : `|V k r| <= \sum_l `|V l r| by apply: (@entry_le_sum _ _ (fun l => `|V l r|)).
  have h2 : \sum_l `|V l r| <= \sum_r' \sum_l `|V l r'|.
    by apply: (@entry_le_sum _ _ (fun r' => \sum_l `|V l r'|)) => r'; rewrite sum_ge0.
  by rewrite (le_trans h1) // (le_trans h2) // ler_addl.
have bound q r : `|context V q r - context V p r| <= B * \sum_k `|q k - p k|.
  rewrite rB (le_trans (ler_norm_sum _ _ _)) // mulr_sumr sum_le // => k.
  by rewrite normrM ler_wpmul2r.
have total q : \sum_r `|context V q r - context V p r| <= B * \sum_k `|q k - p k|.
  have h1 : \sum_r `|context V q r - context V p r| <= \sum_r \sum_k `|V k r| * `|q k - p k|.
    by apply: sum_le => r; rewrite rB (le_trans (ler_norm_sum _ _ _)) // sum_le // => k; rewrite normrM.
  rewrite (le_trans h1) // exchange_big mulr_sumr sum_le // => k; rewrite -mulr_suml ler_wpmul2r //.
  rewrite /B ler_paddr // sum_le // => r; exact: (@entry_le_sum _ _ (fun l => `|V l r|)).
exists (r0 / (B * (#|I|%:R + 1))); first by rewrite divr_gt0 // mulr_gt0 // ltr_spaddr.
move=> q close.
have close' r : `|context V q r - context V p r| < r0.
  rewrite (le_lt_trans (bound q r)) //.
  have : \sum_k `|q k - p k| <= #|I|%:R * (r0 / (B * (#|I|%:R + 1))).
    by rewrite -sum_cst sum_le // => k; rewrite ltW.
  rewrite -(ler_pmul2l B0) => /le_lt_trans; apply.
  rewrite (_ : B * _ = r0 * (#|I|%:R / (#|I|%:R + 1))); last first.
    by field; rewrite !gt_eqF // ltr_spaddr.
  by rewrite gtr_pmulr // ltr_pdivr_mulr ?ltr_spaddr // mul1r ltr_addl.
have := hr _ close'.
rewrite (_ : \sum_r g r * _ = \sum_k (\sum_r g r * V k r) * (q k - p k)); last first.
  under eq_bigr do rewrite rB mulr_sumr.
  by rewrite exchange_big; apply: eq_bigr => k _; rewrite mulr_suml; apply: eq_bigr => r _; rewrite mulrA.
move=> /le_trans; apply.
by rewrite mulrAC ler_pdivr_mulr // -mulrA ler_wpmul2l ?(ltW e0) // mulrC total.
Qed.

(* claim: eot.64 *)
Theorem advantage_gradient V tau s j g (ell : ('I_d -> R) -> R) :
  let p := softmax tau s in
  let u k := - \sum_r g r * V k r in
  is_gradient ell (context V p) g ->
  is_partial (fun v => ell (context V (softmax tau v))) s j (- (p j / tau) * (u j - \sum_k p k * u k)).
Proof.
move=> p u hl; apply: (@score_gradient _ _ tau s u j (fun q => ell (context V q))).
rewrite (_ : (fun k => - u k) = (fun k => \sum_r g r * V k r)); first exact: marginal_utility.
by apply/funext => k; rewrite opprK.
Qed.

End ValueVectors.
