(* alpha-entmax by its KKT system: the only minimizer of the Tsallis problem is a power of a positive part.

   Claims      eot.33, eot.prop4.3
   Notation    a = alpha - 1 > 0; rpow x b   x^b with 0^b = 0 for b != 0 (Rules.v)
               tsallis_objective s p   -<p, s> + sum_j (p_j^(a+1) - p_j) / (a (a + 1))
               theta, mu  the multiplier of the sum (lambda = -theta) and those of p_j >= 0
   References  Peters, Niculae and Martins (2019); the gap is a sum of Bregman divergences of x^(a+1) *)

From AttentionProofs Require Import Prelude Divergence Sparse Rules.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Roots.
Variable R : realType.
Implicit Types x a b : R.

Lemma rpow_ge0 x a : 0 <= rpow x a.
Proof. by rewrite /rpow; case: eqP => _; [exact: ler0n | exact/ltW/expR_gt0]. Qed.

Lemma rpow_root x a : 0 < a -> 0 <= x -> rpow (rpow x a^-1) a = x.
Proof.
move=> a0; have an := lt0r_neq0 a0; rewrite le_eqVlt => /orP[/eqP <-|x0].
  by rewrite (@rpow0 R a^-1) ?invr_eq0 // rpow0.
by rewrite (@rpow_pos R x _ x0) (@rpow_pos R _ a) ?expR_gt0 // ln_exp mulrA mulfV // mul1r exp_ln.
Qed.

Lemma root_rpow x a : 0 < a -> 0 <= x -> rpow (rpow x a) a^-1 = x.
Proof. by move=> a0 x0; have := @rpow_root x a^-1; rewrite invrK invr_gt0 => h; exact: h. Qed.

End Roots.

Section Entmax.
Variables (R : realType) (I : finType) (a : R).
Hypothesis a_gt0 : 0 < a.
Implicit Types (s p q mu : I -> R) (theta : R).

Definition tsallis_objective s p : R := - dot p s + \sum_j (rpow (p j) (a + 1) - p j) / (a * (a + 1)).

(* stationarity in every entry, with the multipliers theta and mu *)
Definition stationary s p mu theta : Prop := forall j, s j = rpow (p j) a / a + theta - mu j.

Lemma tsallis_gap s p q mu theta : simplex p -> simplex q ->
  stationary s p mu theta -> (forall j, p j * mu j = 0) ->
  tsallis_objective s q - tsallis_objective s p = (\sum_j bregman (q j) (p j) (a + 1)) + \sum_j mu j * q j.
Proof.
move=> [_ p1] [_ q1] kkt slack; set k := theta + (a * (a + 1))^-1.
have mass : \sum_j k * (q j - p j) = 0 by rewrite -mulr_sumr sumB p1 q1 subrr mulr0.
have an := lt0r_neq0 a_gt0; have bn : a + 1 != 0 by rewrite gt_eqF // addr_gt0.
rewrite /tsallis_objective /dot -!sumrN -!sumD -sumB -[LHS]addr0 -[X in _ + X = _]mass -sumD.
apply: eq_bigr => j _; rewrite kkt /bregman addrK /k -[RHS]subr0 -(slack j).
by set x := rpow (p j) (a + 1); set y := rpow (q j) (a + 1); set w := rpow (p j) a; field; rewrite an.
Qed.

(* claim: eot.prop4.3 *)
Theorem entmax_kkt s p mu theta : simplex p -> (forall j, 0 <= mu j) ->
  stationary s p mu theta -> (forall j, p j * mu j = 0) ->
  forall q, simplex q -> tsallis_objective s p <= tsallis_objective s q
    /\ (tsallis_objective s q = tsallis_objective s p -> q = p).
Proof.
move=> sp mu0 kkt slack q sq; have gap := tsallis_gap sp sq kkt slack.
have [p0 _] := sp; have [q0 _] := sq; have b1 : 1 < a + 1 by rewrite ltr_addr.
have breg j := rule_bregman_nonnegative b1 (p0 j) (q0 j).
have B0 : 0 <= \sum_j bregman (q j) (p j) (a + 1) by apply: sum_ge0 => j; have [] := breg j.
have M0 : 0 <= \sum_j mu j * q j by apply: sum_ge0 => j; exact: mulr_ge0.
split; first by rewrite -subr_ge0 gap addr_ge0.
move=> e; move: gap; rewrite e subrr => /esym/eqP; rewrite paddr_eq0 // => /andP[/eqP z _].
apply/funext => j; have [b0 eq] := breg j; apply: eq.
by apply: (sum_eq0 _ z) => i; have [] := breg i.
Qed.

(* a point that satisfies the KKT system is a power of a positive part *)
(* claim: eot.33 *)
Theorem entmax_is_a_power_of_a_positive_part s p mu theta :
  (forall j, 0 <= p j) -> (forall j, 0 <= mu j) -> (forall j, p j * mu j = 0) -> stationary s p mu theta ->
  forall j, p j = rpow (plus (a * (s j - theta))) a^-1.
Proof.
move=> p0 mu0 slack kkt j; rewrite (_ : a * (s j - theta) = rpow (p j) a - a * mu j); last first.
  by rewrite kkt; field; rewrite gt_eqF.
rewrite plus_complementary ?rpow_ge0 ?root_rpow ?mulr_ge0 ?(ltW a_gt0) //.
have /eqP := slack j; rewrite mulf_eq0 => /orP[/eqP -> | /eqP ->]; last by rewrite !mulr0.
by rewrite rpow0 ?gt_eqF // mul0r.
Qed.

(* claim: eot.prop4.3, eot.s4.entmax-threshold *)
Theorem entmax_unique_minimizer s theta : \sum_j rpow (plus (a * (s j - theta))) a^-1 = 1 ->
  let p := fun j => rpow (plus (a * (s j - theta))) a^-1 in
  simplex p /\ forall q, simplex q -> tsallis_objective s p <= tsallis_objective s q
    /\ (tsallis_objective s q = tsallis_objective s p -> q = p).
Proof.
move=> p1 p; have sp : simplex p by split=> // j; exact: rpow_ge0.
have pa j : rpow (p j) a = plus (a * (s j - theta)) by rewrite rpow_root // plus_ge0.
have part j := plus_parts (a * (s j - theta)).
split=> //; apply: (@entmax_kkt s p (fun j => plus (- (a * (s j - theta))) / a) theta) => // j.
- by rewrite divr_ge0 ?plus_ge0 // ltW.
- rewrite pa -addrA [theta - _]addrC addrA -mulrBl; have [_ ->] := part j.
  by field; rewrite gt_eqF.
have [/eqP e _] := part j; rewrite mulrA (_ : p j * _ = 0) ?mul0r //.
move: e; rewrite mulf_eq0 => /orP[/eqP e|/eqP ->]; last by rewrite mulr0.
by rewrite /p e rpow0 ?mul0r // invr_eq0 gt_eqF.
Qed.

End Entmax.
