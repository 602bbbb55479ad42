(* The rewriting rules of the normal form (derivations/calculus), one theorem each.

   Claims      none: each rule is named at the Python line that uses it, as "formal: name"
   Notation    rpow x a   x^a for x >= 0 and a real a, with 0^a = 0 for a != 0 and 0^0 = 1
               bregman y x a   (y^a - x^a - a x^(a-1) (y - x)) / (a (a - 1))
   References  derivations/calculus/sums.py, functions.py, powers.py, bounds.py; docs/trust.md *)

From AttentionProofs Require Import Prelude Divergence Sparse.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Sums.
Variables (R : realType) (I J : finType).
Implicit Types (f g p mu : I -> R) (h P : I -> J -> R) (c : R) (i j : I).

(* sum_i (f_i + g_i) = sum_i f_i + sum_i g_i, and constants leave a sum *)
Theorem rule_sum_linear c f g : \sum_i (c * f i + g i) = c * (\sum_i f i) + \sum_i g i.
Proof. by rewrite sumD sumZ. Qed.

(* sum_l g(l) delta_lj = g(j) *)
Theorem rule_delta_collapse j g : \sum_l delta l j * g l = g j.
Proof. exact: sum_delta. Qed.

(* delta_xy g(x, y) = delta_xy g(x, x) *)
Theorem rule_delta_substitution (h' : I -> I -> R) i j : delta i j * h' i j = delta i j * h' i i.
Proof. exact: delta_subst. Qed.

(* delta_xy = 0 for indices that are declared to differ *)
Theorem rule_delta_apart i j : i != j -> delta i j = 0 :> R.
Proof. exact: delta_neq. Qed.

(* sum_k a_k sum_l b_kl = sum_k sum_l a_k b_kl *)
Theorem rule_inner_sum f h : \sum_i f i * (\sum_j h i j) = \sum_i \sum_j f i * h i j.
Proof. by apply: eq_bigr => i _; rewrite mulr_sumr. Qed.

Theorem rule_exchange h : \sum_i \sum_j h i j = \sum_j \sum_i h i j.
Proof. exact: sum_exchange. Qed.

(* a product of factors that share no index splits *)
Theorem rule_product_of_sums f (g' : J -> R) : \sum_i \sum_j f i * g' j = (\sum_i f i) * (\sum_j g' j).
Proof. by rewrite sum_mul. Qed.

(* sum_i 1 = m *)
Theorem rule_size : \sum_(i : I) 1 = #|I|%:R :> R.
Proof. by rewrite sum_cst mulr1. Qed.

(* sum_i sum_j a_ij / sum_l a_il = sum_i 1 *)
Theorem rule_row_sum h f : (forall i, \sum_l h i l != 0) -> \sum_i \sum_j f i * (h i j / \sum_l h i l) = \sum_i f i.
Proof. by move=> n0; apply: eq_bigr => i _; rewrite -mulr_sumr -mulr_suml mulfV // mulr1. Qed.

(* summands that vanish one by one *)
Theorem rule_summands f : (forall i, f i = 0) -> \sum_i f i = 0.
Proof. by move=> f0; rewrite big1. Qed.

Theorem rule_unit_mass p : simplex p -> \sum_i p i = 1.
Proof. by case. Qed.

Theorem rule_marginal_rows P (a : I -> R) (f' : I -> R) : (forall i, \sum_j P i j = a i) ->
  \sum_i \sum_j f' i * P i j = \sum_i f' i * a i.
Proof. by move=> Pa; apply: eq_bigr => i _; rewrite -mulr_sumr Pa. Qed.

Theorem rule_marginal_columns P (b g' : J -> R) : (forall l : J, \sum_i P i l = b l) ->
  \sum_i \sum_l g' l * P i l = \sum_l g' l * b l.
Proof. by move=> Pb; rewrite exchange_big; apply: eq_bigr => j _; rewrite -mulr_sumr Pb. Qed.

(* products with a multiplier and a positive power of what it is complementary to *)
Theorem rule_complementary_slackness p mu i (n k : nat) c : (forall l, mu l * p l = 0) ->
  mu i ^+ n.+1 * p i ^+ k.+1 * c = 0.
Proof.
move=> slack; rewrite exprSr exprS mulrA -[_ * mu i * p i]mulrA slack; ring.
Qed.

Theorem rule_entry_below_sum f i : (forall l, 0 <= f l) -> f i <= \sum_l f l.
Proof. exact: entry_le_sum. Qed.

Theorem rule_weight_below_one p i : simplex p -> p i <= 1.
Proof. exact: simplex_le1. Qed.

End Sums.

Section Functions.
Variable R : realType.
Implicit Types x y a b t : R.

Theorem rule_log_product x y : 0 < x -> 0 < y -> ln (x * y) = ln x + ln y.
Proof. exact: ln_mul. Qed.

Theorem rule_log_exp x : ln (expR x) = x.
Proof. exact: ln_exp. Qed.

(* log(e^x a + e^y b) = x + log(a + e^(y-x) b) *)
Theorem rule_exponential_factored x y a b : 0 < a + expR (y - x) * b ->
  ln (expR x * a + expR y * b) = x + ln (a + expR (y - x) * b).
Proof.
move=> p0; rewrite -{2}(ln_exp x) -ln_mul ?expR_gt0 // mulrDr mulrA -expRD.
by rewrite (_ : x + (y - x) = y) //; ring.
Qed.

Theorem rule_xlogx_product x y : 0 <= x -> 0 <= y -> xlogx (x * y) = x * xlogx y + y * xlogx x.
Proof. exact: xlogxM. Qed.

Theorem rule_xlogx_open x : xlogx x = x * ln x.
Proof. by []. Qed.

Theorem rule_xlogx_derivative x : 0 < x -> is_derive x 1 (fun t => xlogx t) (ln x + 1).
Proof. exact: d_xlogx. Qed.

(* x^c phi(x^b) = b x^(b+c-1) phi(x) *)
Theorem rule_log_of_root x (b c : nat) : 0 <= x -> (0 < b)%N ->
  x ^+ c * xlogx (x ^+ b) = b%:R * x ^+ (b + c).-1 * xlogx x.
Proof.
case: b => // b x0 _; rewrite xlogx_pow //= exprD; set p := x ^+ b; set q := x ^+ c; ring.
Qed.

Theorem rule_kl_open x y : kl y x = xlogx y - y * ln x - y + x.
Proof. by []. Qed.

Theorem rule_kl_nonnegative x y : 0 <= y -> 0 < x -> 0 <= kl y x /\ (kl y x = 0 -> y = x).
Proof. by move=> y0 x0; split; [exact: kl_ge0 | exact: kl_eq0]. Qed.

Theorem rule_positive_part a b : 0 <= a -> 0 <= b -> a * b = 0 -> plus (a - b) = a.
Proof. exact: plus_complementary. Qed.

Theorem rule_positive_part_cases x : plus x = 0 \/ plus x = x.
Proof. exact: plus_cases. Qed.

Theorem rule_positive_part_above x : x <= plus x.
Proof. exact: plus_ge. Qed.

Theorem rule_exp_above_tangent x : 1 + x <= expR x.
Proof. exact: expR_ge1D. Qed.

Theorem rule_log_below_tangent x : 0 < x -> ln x <= x - 1.
Proof. exact: ln_le_sub1. Qed.

Theorem rule_absolute_value x : x <= `|x| /\ - x <= `|x|.
Proof. by rewrite ler_norm -normrN ler_norm. Qed.

(* ---- real powers of what is not negative *)

Definition rpow x a : R := if x == 0 then (a == 0)%:R else expR (a * ln x).

Lemma rpow_pos x a : 0 < x -> rpow x a = expR (a * ln x).
Proof. by move=> x0; rewrite /rpow gt_eqF. Qed.

Lemma rpow0 a : a != 0 -> rpow 0 a = 0.
Proof. by rewrite /rpow eqxx => /negbTE ->. Qed.

Theorem rule_power_of_product x y a : 0 < x -> 0 < y -> rpow (x * y) a = rpow x a * rpow y a.
Proof. by move=> x0 y0; rewrite !rpow_pos ?mulr_gt0 // ln_mul // mulrDr expRD. Qed.

Theorem rule_log_of_power x a : 0 < x -> ln (rpow x a) = a * ln x.
Proof. by move=> x0; rewrite rpow_pos // ln_exp. Qed.

(* Bernoulli's inequality for real exponents: exp(a v) - 1 >= a (e^v - 1), with equality only at v = 0 *)
Lemma bernoulli a v : 1 < a -> v != 0 -> a * (expR v - 1) < expR (a * v) - 1.
Proof.
move=> a1 v0; have a0 : 0 < a by exact: lt_trans a1.
have b0 : 0 < a - 1 by rewrite subr_gt0.
have e1 : 1 + (a - 1) * v < expR ((a - 1) * v) by rewrite expR_gt1D // mulf_neq0 // gt_eqF.
have e2 : 1 - v < expR (- v) by rewrite expR_gt1D // oppr_eq0.
rewrite -subr_gt0 (_ : _ - _ = expR v * ((expR ((a - 1) * v) - (1 + (a - 1) * v))
    + (a - 1) * (expR (- v) - (1 - v)))).
  by rewrite mulr_gt0 ?expR_gt0 // addr_gt0 ?subr_gt0 // mulr_gt0 // subr_gt0.
have -> : expR (a * v) = expR v * expR ((a - 1) * v) by rewrite -expRD; congr expR; ring.
rewrite expRN; have := expR_neq0 v; set w := expR v; set q := expR _ => w0.
by field.
Qed.

Definition bregman y x a : R := (rpow y a - rpow x a - a * rpow x (a - 1) * (y - x)) / (a * (a - 1)).

Theorem rule_bregman_nonnegative x y a : 1 < a -> 0 <= x -> 0 <= y ->
  0 <= bregman y x a /\ (bregman y x a = 0 -> y = x).
Proof.
move=> a1 x0 y0; have a0 : 0 < a by exact: lt_trans a1.
have b0 : 0 < a - 1 by rewrite subr_gt0.
have d0 : 0 < (a * (a - 1))^-1 by rewrite invr_gt0 mulr_gt0.
suff strict : y != x -> 0 < bregman y x a.
  have [->|yx] := eqVneq y x; first by rewrite /bregman !subrr mulr0 subr0 mul0r.
  by have h := strict yx; split; [exact: ltW | move=> e; rewrite e ltxx in h].
move=> yx; rewrite /bregman pmulr_lgt0 //.
have [xe|xn] := eqVneq x 0.
  move: yx; rewrite xe => yn; have yp : 0 < y by rewrite lt_neqAle eq_sym yn.
  by rewrite !rpow0 ?gt_eqF // mulr0 mul0r !subr0 rpow_pos // expR_gt0.
have xp : 0 < x by rewrite lt_neqAle eq_sym xn.
have X0 : 0 < expR (a * ln x) by exact: expR_gt0.
have xE : expR ((a - 1) * ln x) = expR (a * ln x) / x.
  by rewrite mulrBl mul1r expRB exp_ln.
have [ye|yn] := eqVneq y 0.
  rewrite ye rpow0 ?gt_eqF // !rpow_pos // xE sub0r.
  rewrite (_ : _ - _ = expR (a * ln x) * (a - 1)); first by rewrite mulr_gt0.
  by field; rewrite gt_eqF.
have yp : 0 < y by rewrite lt_neqAle eq_sym yn.
pose v := ln y - ln x.
have v0 : v != 0.
  rewrite subr_eq0; apply: contra yx => /eqP e; by rewrite -(exp_ln yp) e exp_ln.
have yE : y / x = expR v by rewrite /v expRB !exp_ln.
have := bernoulli a1 v0; rewrite -subr_gt0 -(pmulr_rgt0 _ X0) !rpow_pos // xE => h.
rewrite (_ : _ - _ = expR (a * ln x) * (expR (a * v) - 1 - a * (expR v - 1))) //.
rewrite -yE (_ : expR (a * v) = expR (a * ln y) / expR (a * ln x)); last by rewrite -expRB /v mulrBr.
by field; rewrite !gt_eqF.
Qed.

End Functions.
