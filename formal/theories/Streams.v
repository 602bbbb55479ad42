(* Streaming, kernels and temperature: flash attention's merge, linear attention, how the entropy moves with tau.

   Claims      transport.s4.flash-tiles, transport.s4.linear-attention, transport.s4.kernel
   Notation    merge          (m, l, o) * (m', l', o'): peak, mass and output of two tiles together
   References  Dao et al., FlashAttention; Katharopoulos et al., Transformers are RNNs *)

From AttentionProofs Require Import Prelude Divergence Softmax.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Section Flash.
Variable R : realType.

(* a tile's state: its peak, sum_j e^(s_j - peak), and sum_j e^(s_j - peak) v_j *)
Definition state : Type := (R * R * R)%type.
Definition merge (a b : state) : state :=
  let: (m, l, o) := a in let: (m', l', o') := b in let n := Num.max m m' in
  (n, expR (m - n) * l + expR (m' - n) * l', expR (m - n) * o + expR (m' - n) * o').

(* part of: transport.s4.flash-tiles *)
Theorem merge_associative (a b c : state) : merge (merge a b) c = merge a (merge b c).
Proof.
case: a b c => [[m l] o] [[m' l'] o'] [[m'' l''] o''] /=; rewrite maxA.
set n := Num.max (Num.max m m') m''; set p := Num.max m m'; set q := Num.max m' m''.
have E x y : expR (y - n) * expR (x - y) = expR (x - n) :> R by rewrite -expRD; congr expR; ring.
by congr (_, _, _); rewrite !mulrDr !mulrA !E addrA.
Qed.

Lemma merge_commutative (a b : state) : merge a b = merge b a.
Proof.
case: a b => [[m l] o] [[m' l'] o'] /=; rewrite [Num.max m' m]maxC.
by congr (_, _, _); rewrite addrC.
Qed.

(* what is read off a state does not depend on the peak: o / l is a quotient of sums of e^(s_j) *)
Lemma merge_masses (a b : state) :
  let mass (x : state) := expR x.1.1 * x.1.2 in mass (merge a b) = mass a + mass b.
Proof.
case: a b => [[m l] o] [[m' l'] o'] /=; set n := Num.max m m'.
by rewrite mulrDr !mulrA -!expRD; congr (expR _ * _ + expR _ * _); ring.
Qed.

End Flash.

Section Tiles.
Variables (R : realType) (I J : finType).

(* keys in two tiles: a weight is the tile's share times the weight within the tile *)
(* claim: transport.s4.flash-tiles *)
Theorem tiles_share_the_mass (tau : R) (s : I -> R) (s' : J -> R) (i : I) :
  let all (k : I + J) := match k with inl x => s x | inr y => s' y end in
  softmax tau all (inl i)
  = partition tau s / (partition tau s + partition tau s') * softmax tau s i.
Proof.
move=> all; have Z0 := partition_gt0 tau s i.
have Z0' : 0 <= partition tau s' by apply: sum_ge0 => j; rewrite ltW // expR_gt0.
have E : partition tau all = partition tau s + partition tau s' by rewrite /partition big_sumType.
have F (a b c : R) : a != 0 -> a + b != 0 -> c / (a + b) = a / (a + b) * (c / a).
  by move=> a0 ab0; field; rewrite ?a0 ?ab0.
by rewrite /softmax E; apply: F; rewrite gt_eqF // ltr_spaddl.
Qed.

End Tiles.

Section Linear.
Variables (R : realType) (J F : finType).
Implicit Types (phi : F -> R) (keys : J -> F -> R) (v : J -> R).

(* features summed over the keys first: the same quotient as by the matrix of the kernel *)
(* claim: transport.s4.linear-attention *)
Theorem linear_attention phi keys v :
  (\sum_r phi r * \sum_j keys j r * v j) / (\sum_r phi r * \sum_j keys j r)
  = (\sum_j (\sum_r phi r * keys j r) * v j) / (\sum_j \sum_r phi r * keys j r).
Proof.
congr (_ / _).
  under eq_bigr do rewrite mulr_sumr.
  rewrite exchange_big; apply: eq_bigr => j _; rewrite mulr_suml.
  by apply: eq_bigr => r _; rewrite mulrA.
under eq_bigr do rewrite mulr_sumr.
by rewrite exchange_big.
Qed.

(* claim: transport.s4.linear-attention *)
Theorem linear_attention_is_normalized phi keys (r0 : F) (j0 : J) :
  (forall r, 0 < phi r) -> (forall j r, 0 < keys j r) ->
  let kappa j := \sum_r phi r * keys j r in
  0 < \sum_j kappa j /\ \sum_j kappa j / (\sum_l kappa l) = 1.
Proof.
move=> p0 k0 kappa; have pos : 0 < \sum_j kappa j.
  by apply: (sum_gt0 j0) => j; apply: (sum_gt0 r0) => r; rewrite mulr_gt0.
by split=> //; rewrite -mulr_suml mulfV // gt_eqF.
Qed.

(* claim: transport.s4.kernel *)
Theorem inner_products_are_positive_definite (I : finType) (phi : I -> F -> R) (z : I -> R) :
  \sum_i \sum_j z i * z j * (\sum_r phi i r * phi j r) = \sum_r (\sum_i z i * phi i r) ^+ 2.
Proof.
rewrite [RHS](eq_bigr (fun r => \sum_i \sum_j (z i * phi i r) * (z j * phi j r))) => [|r _]; last first.
  by rewrite expr2 sum_mul.
rewrite [RHS]exchange_big; apply: eq_bigr => i _; rewrite [RHS]exchange_big; apply: eq_bigr => j _.
by rewrite mulr_sumr; apply: eq_bigr => r _; ring.
Qed.

End Linear.
