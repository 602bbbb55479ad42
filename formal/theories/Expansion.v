(* Expansions at 0 up to the third order: a function is a cubic up to t^4 times what is bounded near 0.

   Claims      none of its own; statements of the form left = right + o(t^k), k <= 3
   Notation    agrees k f g        f and g agree up to o(t^k) as t -> 0
               cubic a b c d t     a + b t + c t^2 + d t^3
               series f a b c d    f t = cubic a b c d t + t^4 rho t near 0, with a bounded rho
   References  Taylor's theorem by the mean value theorem *)

From AttentionProofs Require Import Prelude.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope ring_scope.

Definition agrees {R : realType} (k : nat) (f g : R -> R) : Prop :=
  forall e, 0 < e -> exists r, 0 < r /\ forall t, `|t| < r -> `|f t - g t| <= e * `|t| ^+ k.

Definition cubic {R : realType} (a b c d t : R) : R := a + t * (b + t * (c + t * d)).

(* ------------------------------------------------------------------ remainders of exp, ln and 1/x *)

Section Remainders.
Variable R : realType.
Implicit Types (f df : R -> R) (a b c d t C : R).

Lemma near_by_derivative f df C n : 0 <= C -> f 0 = 0 -> (forall t, `|t| <= 2^-1 -> is_derive t 1 f (df t)) ->
  (forall t, `|t| <= 2^-1 -> `|df t| <= C * `|t| ^+ n) -> forall t, `|t| <= 2^-1 -> `|f t| <= C * `|t| ^+ n.+1.
Proof.
move=> C0 f0 fd bound t th.
have cont (x y : R) : (forall s, s \in `[x, y] -> `|s| <= 2^-1) -> {within `[x, y]%classic, continuous f}.
  move=> inside; apply: continuous_in_subspaceT => s; rewrite inE /= => sxy.
  by apply/differentiable_continuous/derivable1_diffP/ex_derive/fd/inside.
suff [c [ct e]] : exists c, `|c| <= `|t| /\ f t = df c * t.
  rewrite e normrM exprSr mulrA; apply: ler_wpmul2r => //.
  apply: (le_trans (bound c (le_trans ct th))); apply: ler_wpmul2l => //.
  by apply: ler_expn2r; rewrite // nnegrE.
have [t0|t0|->] := ltrgtP t 0; last by exists 0; rewrite f0 mulr0.
- have inside s : s \in `[t, 0] -> `|s| <= 2^-1.
    by rewrite in_itv /= => /andP[ts s0]; rewrite (le_trans _ th) // (ler0_norm s0) (ltr0_norm t0) ler_opp2.
  have fd' s : s \in `]t, 0[ -> is_derive s 1 f (df s).
    by rewrite in_itv /= => /andP[ts s0]; apply: fd; apply: inside; rewrite in_itv /= !ltW.
  have [c] := MVT t0 fd' (cont _ _ inside); rewrite in_itv /= f0 => /andP[tc c0] e.
  exists c; rewrite (ltr0_norm c0) (ltr0_norm t0) ler_opp2 ltW //; split=> //.
  by move/eqP: e; rewrite sub0r sub0r mulrN eqr_opp => /eqP.
- have inside s : s \in `[0, t] -> `|s| <= 2^-1.
    by rewrite in_itv /= => /andP[s0 st]; rewrite (le_trans _ th) // (ger0_norm s0) (gtr0_norm t0).
  have fd' s : s \in `]0, t[ -> is_derive s 1 f (df s).
    by rewrite in_itv /= => /andP[s0 st]; apply: fd; apply: inside; rewrite in_itv /= !ltW.
  have [c] := MVT t0 fd' (cont _ _ inside); rewrite in_itv /= f0 !subr0 => /andP[c0 ct] e.
  by exists c; rewrite (gtr0_norm c0) (gtr0_norm t0) ltW.
Qed.

Lemma d_cubic a b c d t : is_derive t 1 (cubic a b c d) (cubic b (2 * c) (3 * d) 0 t).
Proof.
have h := d_add (d_cst a t) (d_mul (d_id t) (d_add (d_cst b t) (d_mul (d_id t) (d_add (d_cst c t) (d_mul (d_id t) (d_cst d t)))))).
by apply: (is_derive_val h); rewrite /cubic; ring.
Qed.

Lemma remainder_step f df a b c d C n : 0 <= C -> f 0 = a -> (forall t, `|t| <= 2^-1 -> is_derive t 1 f (df t)) ->
  (forall t, `|t| <= 2^-1 -> `|df t - cubic b (2 * c) (3 * d) 0 t| <= C * `|t| ^+ n) ->
  forall t, `|t| <= 2^-1 -> `|f t - cubic a b c d t| <= C * `|t| ^+ n.+1.
Proof.
move=> C0 fa fd; apply: near_by_derivative => // [|t th]; first by rewrite fa /cubic mul0r addr0 subrr.
by apply: d_sub; [exact: fd | exact: d_cubic].
Qed.

Lemma exp_remainder t : `|t| <= 2^-1 -> `|expR t - cubic 1 1 2^-1 6^-1 t| <= expR 1 * `|t| ^+ 4.
Proof.
have C0 : 0 <= expR 1 :> R by rewrite ltW ?expR_gt0.
have d0 s : `|s| <= 2^-1 -> is_derive s 1 (@expR R) (expR s).
  by move=> _; apply: (is_derive_val (d_exp (d_id s))); rewrite mulr1.
move: t; apply: (remainder_step C0 (expR0 R) d0).
have -> : 2 * 2^-1 = 1 :> R by field.
have -> : 3 * 6^-1 = 2^-1 :> R by field.
apply: (remainder_step C0 (expR0 R) d0); rewrite mulr0.
have -> : 2 * 2^-1 = 1 :> R by field.
apply: (remainder_step C0 (expR0 R) d0); rewrite !mulr0.
apply: (remainder_step C0 (expR0 R) d0); rewrite !mulr0 => t th.
rewrite /cubic !(mulr0, addr0) subr0 expr0 mulr1 (ger0_norm (ltW (expR_gt0 t))) ler_expR.
by apply: (le_trans (ler_norm t)); apply: (le_trans th); rewrite invf_le1 ?ler1n.
Qed.

Lemma half_le1D t : `|t| <= 2^-1 -> 2^-1 <= 1 + t.
Proof.
move=> th; have : - t <= 2^-1 by rewrite (le_trans (ler_norm _)) // normrN.
by rewrite -subr_ge0 -[2^-1 <= _]subr_ge0 (_ : 1 + t - 2^-1 = 2^-1 - - t) //; field.
Qed.

Lemma inv_le2 t : `|t| <= 2^-1 -> `|(1 + t)^-1| <= 2.
Proof.
move=> /half_le1D h; have p : 0 < 1 + t by apply: lt_le_trans h; rewrite invr_gt0.
rewrite (ger0_norm _); last by rewrite invr_ge0 ltW.
by rewrite -[X in _ <= X]invrK lef_pinv // posrE invr_gt0.
Qed.

Lemma inv_remainder t : `|t| <= 2^-1 -> `|(1 + t)^-1 - cubic 1 (-1) 1 (-1) t| <= 2 * `|t| ^+ 4.
Proof.
move=> th; have p : 1 + t != 0.
  by apply: lt0r_neq0; apply: lt_le_trans (half_le1D th); rewrite invr_gt0.
have -> : (1 + t)^-1 - cubic 1 (-1) 1 (-1) t = (1 + t)^-1 * t ^+ 4 by rewrite /cubic; field.
by rewrite normrM normrX ler_wpmul2r ?exprn_ge0 // inv_le2.
Qed.

Lemma ln_remainder t : `|t| <= 2^-1 -> `|ln (1 + t) - cubic 0 1 (- 2^-1) 3^-1 t| <= 2 * `|t| ^+ 4.
Proof.
move: t; apply: (@remainder_step (fun t => ln (1 + t)) (fun t => (1 + t)^-1)) => [||t th|t th] //.
- by rewrite addr0 ln1.
- have p : 0 < 1 + t by apply: lt_le_trans (half_le1D th); rewrite invr_gt0.
  by apply: (is_derive_val (d_ln p (d_add (d_cst 1 t) (d_id t)))); rewrite add0r mul1r.
- have p : 1 + t != 0.
    by apply: lt0r_neq0; apply: lt_le_trans (half_le1D th); rewrite invr_gt0.
  have -> : (1 + t)^-1 - cubic 1 (2 * - 2^-1) (3 * 3^-1) 0 t = - ((1 + t)^-1 * t ^+ 3) by rewrite /cubic; field.
  by rewrite normrN normrM normrX ler_wpmul2r ?exprn_ge0 // inv_le2.
Qed.

End Remainders.

(* ------------------------------------------------------------------ functions that are bounded near 0 *)

Section Bounded.
Variable R : realType.
Implicit Types (f g : R -> R) (c : R).

Definition bounded_near0 f := exists C r, 0 < r /\ forall t, `|t| < r -> `|f t| <= C.

Lemma bounded_cst c : bounded_near0 (fun=> c).
Proof. by exists `|c|, 1. Qed.

Lemma bounded_id : bounded_near0 id.
Proof. by exists 1, 1; split=> // t /ltW. Qed.

Lemma bounded_add f g : bounded_near0 f -> bounded_near0 g -> bounded_near0 (fun t => f t + g t).
Proof.
move=> [C [r [r0 fC]]] [D [q [q0 gD]]]; exists (C + D), (Num.min r q); split=> [|t]; first by rewrite lt_minr r0 q0.
by rewrite lt_minr => /andP[tr tq]; rewrite (le_trans (ler_norm_add _ _)) // ler_add ?fC ?gD.
Qed.

Lemma bounded_mul f g : bounded_near0 f -> bounded_near0 g -> bounded_near0 (fun t => f t * g t).
Proof.
move=> [C [r [r0 fC]]] [D [q [q0 gD]]]; exists (C * D), (Num.min r q); split=> [|t]; first by rewrite lt_minr r0 q0.
by rewrite lt_minr => /andP[tr tq]; rewrite normrM ler_pmul ?fC ?gD.
Qed.

Lemma bounded_cubic (a b c d : R) : bounded_near0 (cubic a b c d).
Proof.
change (bounded_near0 (fun t => a + t * (b + t * (c + t * d)))).
have inner (x : R) f : bounded_near0 f -> bounded_near0 (fun t => x + t * f t).
  by move=> fb; exact: bounded_add (bounded_cst x) (bounded_mul bounded_id fb).
exact: inner (inner _ _ (inner _ _ (bounded_cst d))).
Qed.

Lemma bounded_pow f n : bounded_near0 f -> bounded_near0 (fun t => t ^+ n * f t).
Proof.
move=> fb; elim: n => [|n [C [r [r0 h]]]].
  by case: fb => C [r [r0 h]]; exists C, r; split=> // t /h; rewrite mul1r.
have [D [q [q0 e]]] := bounded_mul bounded_id (ex_intro _ C (ex_intro _ r (conj r0 h))).
by exists D, q; split=> // t /e; rewrite exprS mulrA.
Qed.

End Bounded.

(* ------------------------------------------------------------------ expansions *)

Section Series.
Variable R : realType.
Implicit Types (f g : R -> R) (a b c d : R).

Definition series f a b c d :=
  exists rho, bounded_near0 rho /\ exists r, 0 < r /\ forall t, `|t| < r -> f t = cubic a b c d t + t ^+ 4 * rho t.

Lemma series_cubic a b c d : series (cubic a b c d) a b c d.
Proof. by exists (fun=> 0); split; [exact: bounded_cst | exists 1; split=> // t _; rewrite mulr0 addr0]. Qed.

Lemma series_cst a : series (fun=> a) a 0 0 0.
Proof.
exists (fun=> 0); split; first exact: bounded_cst.
by exists 1; split=> // t _; rewrite /cubic; ring.
Qed.

Lemma series_id : series (fun t => t) 0 1 0 0.
Proof.
exists (fun=> 0); split; first exact: bounded_cst.
by exists 1; split=> // t _; rewrite /cubic; ring.
Qed.

Lemma series_add f g a b c d a' b' c' d' : series f a b c d -> series g a' b' c' d' ->
  series (fun t => f t + g t) (a + a') (b + b') (c + c') (d + d').
Proof.
move=> [h [hb [r [r0 fE]]]] [k [kb [q [q0 gE]]]]; exists (fun t => h t + k t); split; first exact: bounded_add.
exists (Num.min r q); split=> [|t]; first by rewrite lt_minr r0 q0.
by rewrite lt_minr => /andP[tr tq]; rewrite fE // gE // /cubic; ring.
Qed.

Lemma series_mul f g a b c d a' b' c' d' : series f a b c d -> series g a' b' c' d' ->
  series (fun t => f t * g t) (a * a') (a * b' + b * a') (a * c' + b * b' + c * a') (a * d' + b * c' + c * b' + d * a').
Proof.
move=> [h [hb [r [r0 fE]]]] [k [kb [q [q0 gE]]]].
exists (fun t => cubic (b * d' + c * c' + d * b') (c * d' + d * c') (d * d') 0 t + (cubic a b c d t * k t + g t * h t)).
split.
  apply: bounded_add (bounded_cubic _ _ _ 0) _.
  apply: bounded_add; apply: bounded_mul => //; first exact: bounded_cubic.
  have [C [s [s0 sC]]] := bounded_add (bounded_cubic a' b' c' d') (bounded_pow 4 kb).
  exists C, (Num.min s q); split=> [|t]; first by rewrite lt_minr s0 q0.
  by rewrite lt_minr => /andP[ts tq]; rewrite gE // sC.
exists (Num.min r q); split=> [|t]; first by rewrite lt_minr r0 q0.
by rewrite lt_minr => /andP[tr tq]; rewrite fE // gE // /cubic; ring.
Qed.

Lemma series_eq f a b c d a' b' c' d' : series f a b c d -> a = a' -> b = b' -> c = c' -> d = d' -> series f a' b' c' d'.
Proof. by move=> h <- <- <- <-. Qed.

Lemma series_near f g a b c d : (exists r, 0 < r /\ forall t, `|t| < r -> g t = f t) -> series f a b c d -> series g a b c d.
Proof.
move=> [q [q0 gf]] [h [hb [r [r0 fE]]]]; exists h; split=> //.
exists (Num.min r q); split=> [|t]; first by rewrite lt_minr r0 q0.
by rewrite lt_minr => /andP[tr tq]; rewrite gf // fE.
Qed.

Lemma series_opp f a b c d : series f a b c d -> series (fun t => - f t) (- a) (- b) (- c) (- d).
Proof.
move=> fs; apply: (series_near _ (series_eq (series_mul (series_cst (-1)) fs) _ _ _ _)); try by ring.
by exists 1; split=> // t _; ring.
Qed.

Lemma series_mulc x f a b c d : series f a b c d -> series (fun t => x * f t) (x * a) (x * b) (x * c) (x * d).
Proof. by move=> fs; apply: (series_eq (series_mul (series_cst x) fs)); ring. Qed.

Lemma series_mulcr x f a b c d : series f a b c d -> series (fun t => f t * x) (a * x) (b * x) (c * x) (d * x).
Proof. by move=> fs; apply: (series_eq (series_mul fs (series_cst x))); ring. Qed.

Lemma series_pow n f a b c d a' b' c' d' : series f a b c d -> series (fun t => f t ^+ n.+1) a' b' c' d' ->
  series (fun t => f t ^+ n.+2) (a * a') (a * b' + b * a') (a * c' + b * b' + c * a') (a * d' + b * c' + c * b' + d * a').
Proof.
move=> fs ps; apply: (series_near _ (series_mul fs ps)).
by exists 1; split=> // t _; rewrite exprS.
Qed.

Lemma series_pow1 f a b c d : series f a b c d -> series (fun t => f t ^+ 1) a b c d.
Proof. by apply: series_near; exists 1; split=> // t _; rewrite expr1. Qed.

(* a function of what vanishes with t *)
Lemma series_of (phi u : R -> R) p0 p1 p2 p3 C b c d : 0 <= C ->
  (forall v, `|v| <= 2^-1 -> `|phi v - cubic p0 p1 p2 p3 v| <= C * `|v| ^+ 4) -> series u 0 b c d ->
  series (fun t => phi (u t)) p0 (p1 * b) (p1 * c + p2 * b ^+ 2) (p1 * d + p2 * (2 * b * c) + p3 * b ^+ 3).
Proof.
move=> C0 near us; have u2 := series_mul us us; have u3 := series_mul us u2.
have poly := series_add (series_cst p0) (series_add (series_mul (series_cst p1) us)
  (series_add (series_mul (series_cst p2) u2) (series_mul (series_cst p3) u3))).
case: (us) => h [hb [r [r0 uE]]].
pose w t := cubic b c d 0 t + t ^+ 3 * h t.
have uw t : `|t| < r -> u t = t * w t by move=> tr; rewrite uE // /w /cubic; ring.
have wb : bounded_near0 w by exact: bounded_add (bounded_cubic _ _ _ _) (bounded_pow 3 hb).
case: wb => D [s [s0 wD]].
have D1 : 0 < `|D| + 1 by rewrite ltr_paddl.
pose q := Num.min (Num.min r s) (2^-1 / (`|D| + 1)).
have q0 : 0 < q by rewrite !lt_minr r0 s0 divr_gt0 ?invr_gt0.
have small t : `|t| < q -> [/\ `|t| < r, `|w t| <= `|D| & `|u t| <= 2^-1].
  rewrite !lt_minr => /andP[/andP[tr ts] tq]; have wt : `|w t| <= `|D| by rewrite (le_trans (wD t ts)) // ler_norm.
  split=> //; rewrite uw // normrM; move: tq; rewrite ltr_pdivl_mulr // => /ltW; apply: le_trans.
  by apply: ler_wpmul2l => //; rewrite (le_trans wt) // ler_addl.
have e0 t : `|t| < q -> exists rho, `|rho| <= C * `|D| ^+ 4 /\ phi (u t) = cubic p0 p1 p2 p3 (u t) + t ^+ 4 * rho.
  move=> /small[tr wt ut]; have [->|tn] := eqVneq t 0.
    have u00 : u 0 = 0 by rewrite uE ?normr0 // /cubic; ring.
    exists 0; rewrite normr0 mulr_ge0 ?exprn_ge0 //; split=> //.
    have := near 0; rewrite normr0 invr_ge0 ler0n expr0n mulr0 normr_le0 subr_eq0 u00 => /(_ isT) /eqP ->.
    by rewrite mulr0 addr0.
  exists ((phi (u t) - cubic p0 p1 p2 p3 (u t)) / t ^+ 4); split; last by field.
  rewrite normrM normfV normrX ler_pdivr_mulr ?exprn_gt0 ?normr_gt0 //.
  apply: (le_trans (near _ ut)); rewrite -mulrA; apply: ler_wpmul2l => //.
  rewrite uw // normrM exprMn mulrC; apply: ler_wpmul2r; first exact: exprn_ge0.
  by apply: ler_expn2r; rewrite // nnegrE.
pose rest t := if t == 0 then 0 else (phi (u t) - cubic p0 p1 p2 p3 (u t)) / t ^+ 4.
have restb : bounded_near0 rest.
  exists (C * `|D| ^+ 4), q; split=> // t tq; rewrite /rest; case: eqP => [_|/eqP tn].
    by rewrite normr0 mulr_ge0 ?exprn_ge0.
  by have [rho [rb ->]] := e0 t tq; rewrite addrAC subrr add0r mulrAC divff ?mul1r // expf_neq0.
have rests : series (fun t => t ^+ 4 * rest t) 0 0 0 0.
  by exists rest; split=> //; exists 1; split=> // t _; rewrite /cubic; ring.
apply: (series_eq _ _ _ _ _); first apply: (series_near _ (series_add poly rests)); last 4 first.
- by ring.
- by ring.
- by ring.
- by ring.
exists q; split=> // t tq; rewrite /rest; have [rho [rb e]] := e0 t tq; case: eqP => [t0|/eqP tn].
  by rewrite e t0 /cubic; ring.
by rewrite /cubic; field.
Qed.

Lemma series_shift f a b c d : series f a b c d -> series (fun t => f t - a) 0 b c d.
Proof. by move=> fs; apply: (series_eq (series_add fs (series_cst (- a)))); ring. Qed.

Lemma series_exp f a b c d : series f a b c d ->
  series (fun t => expR (f t)) (expR a) (expR a * b) (expR a * (c + b ^+ 2 / 2))
    (expR a * (d + b * c + b ^+ 3 / 6)).
Proof.
move=> /series_shift fs; have C0 : 0 <= expR 1 :> R by rewrite ltW ?expR_gt0.
have es := series_mul (series_cst (expR a)) (series_of C0 (@exp_remainder R) fs).
apply: (series_eq (series_near _ es)); [|by field|by field|by field|by field].
by exists 1; split=> // t _; rewrite -expRD addrCA subrr addr0.
Qed.

Lemma series_scaled f a b c d : a != 0 -> series f a b c d -> series (fun t => f t / a - 1) 0 (b / a) (c / a) (d / a).
Proof.
move=> a0 fs; apply: (series_eq (series_add (series_mul fs (series_cst a^-1)) (series_cst (-1)))); try by ring.
by field.
Qed.

Lemma series_inv f a b c d : series f a b c d -> a != 0 ->
  series (fun t => (f t)^-1) a^-1 (- b / a ^+ 2) (b ^+ 2 / a ^+ 3 - c / a ^+ 2)
    (2 * b * c / a ^+ 3 - d / a ^+ 2 - b ^+ 3 / a ^+ 4).
Proof.
move=> fs a0; have {}fs := series_scaled a0 fs; have C0 : 0 <= 2 :> R by [].
have es := series_mul (series_cst a^-1) (series_of C0 (@inv_remainder R) fs).
apply: (series_eq (series_near _ es)); [|by field|by field|by field|by field].
by exists 1; split=> // t _; rewrite addrCA subrr addr0 invf_div mulrA mulVf ?mul1r.
Qed.

Lemma series_ln f a b c d : series f a b c d -> 0 < a ->
  series (fun t => ln (f t)) (ln a) (b / a) (c / a - b ^+ 2 / (2 * a ^+ 2))
    (d / a - b * c / a ^+ 2 + b ^+ 3 / (3 * a ^+ 3)).
Proof.
move=> fs a0; have an := lt0r_neq0 a0; have gs := series_scaled an fs; have C0 : 0 <= 2 :> R by [].
have es := series_add (series_cst (ln a)) (series_of C0 (@ln_remainder R) gs).
apply: (series_eq (series_near _ es)); [|by field|by field|by field|by field].
case: gs => h [hb [q [q0 gE]]].
have [D [s [s0 sD]]] := bounded_add (bounded_cubic (b / a) (c / a) (d / a) 0) (bounded_pow 3 hb).
have D1 : 0 < `|D| + 1 by rewrite ltr_paddl.
exists (Num.min (Num.min q s) (`|D| + 1)^-1); split=> [|t]; first by rewrite !lt_minr q0 s0 invr_gt0.
rewrite !lt_minr => /andP[/andP[tq ts] tD].
have pos : 0 < f t / a.
  have : `|f t / a - 1| < 1.
    rewrite gE // (_ : _ + _ = t * (cubic (b / a) (c / a) (d / a) 0 t + t ^+ 3 * h t)); last by rewrite /cubic; ring.
    rewrite normrM; apply: (@le_lt_trans _ _ (`|t| * `|D|)).
      by apply: ler_wpmul2l => //; rewrite (le_trans (sD t ts)) // ler_norm.
    apply: (@le_lt_trans _ _ (`|t| * (`|D| + 1))); first by apply: ler_wpmul2l => //; rewrite ler_addl.
    by rewrite -ltr_pdivl_mulr // div1r.
  by rewrite ltr_norml => /andP[h1 _]; move: h1; rewrite ltr_subr_addr addrC subrr.
by rewrite addrCA subrr addr0 -ln_mul // mulrCA divff ?mulr1.
Qed.

Lemma series_sum (I : Type) (s : seq I) (f : I -> R -> R) (a b c d : I -> R) :
  (forall i, series (f i) (a i) (b i) (c i) (d i)) ->
  series (fun t => \sum_(i <- s) f i t) (\sum_(i <- s) a i) (\sum_(i <- s) b i) (\sum_(i <- s) c i) (\sum_(i <- s) d i).
Proof.
move=> fs; elim: s => [|i s IH].
  by apply: (series_near _ (series_eq (series_cst 0) _ _ _ _)); rewrite ?big_nil //; exists 1; split=> // t _; rewrite big_nil.
apply: (series_near _ (series_eq (series_add (fs i) IH) _ _ _ _)); rewrite ?big_cons //.
by exists 1; split=> // t _; rewrite big_cons.
Qed.

(* what agrees up to the k-th coefficient agrees up to o(t^k) *)
Lemma agrees_by (f g rho : R -> R) k : bounded_near0 rho ->
  (exists r, 0 < r /\ forall t, `|t| < r -> f t - g t = t ^+ k.+1 * rho t) -> agrees k f g.
Proof.
move=> [C [r [r0 hC]]] [q [q0 e]] eps e0; have C1 : 0 < `|C| + 1 by rewrite ltr_paddl.
exists (Num.min (Num.min r q) (eps / (`|C| + 1))); split=> [|t]; first by rewrite !lt_minr r0 q0 divr_gt0.
rewrite !lt_minr => /andP[/andP[tr tq] te]; rewrite e // normrM normrX exprS mulrAC.
apply: ler_wpmul2r; first exact: exprn_ge0.
move: te; rewrite ltr_pdivl_mulr // => /ltW; apply: le_trans; apply: ler_wpmul2l => //.
by rewrite (le_trans (hC t tr)) // (le_trans (ler_norm _)) // ler_addl.
Qed.

Lemma agrees_series f g a b c d a' b' c' d' k : (k <= 3)%N -> series f a b c d -> series g a' b' c' d' ->
  a = a' -> ((1 <= k)%N -> b = b') -> ((2 <= k)%N -> c = c') -> ((3 <= k)%N -> d = d') -> agrees k f g.
Proof.
move=> k3 [h [hb [r [r0 fE]]]] [l [lb [q [q0 gE]]]] ea eb ec ed.
have db : bounded_near0 (fun t => h t + (-1) * l t) by exact: (bounded_add hb (bounded_mul (bounded_cst (-1)) lb)).
have below (x : R) (n : R -> R) : bounded_near0 n -> bounded_near0 (fun t => x + t * n t).
  by move=> nb; exact: (bounded_add (bounded_cst x) (bounded_mul (@bounded_id R) nb)).
have m0 : 0 < Num.min r q by rewrite lt_minr r0 q0.
case: k k3 eb ec ed => [|[|[|[|k]]]] //= _ eb ec ed.
- apply: (@agrees_by _ _ (fun t => (b - b') + t * ((c - c') + t * ((d - d') + t * (h t + (-1) * l t))))).
    exact: below (below _ _ (below _ _ db)).
  exists (Num.min r q); split=> // t; rewrite lt_minr => /andP[tr tq]; rewrite fE // gE // ea /cubic; ring.
- apply: (@agrees_by _ _ (fun t => (c - c') + t * ((d - d') + t * (h t + (-1) * l t)))).
    exact: below (below _ _ db).
  exists (Num.min r q); split=> // t; rewrite lt_minr => /andP[tr tq]; rewrite fE // gE // ea eb // /cubic; ring.
- apply: (@agrees_by _ _ (fun t => (d - d') + t * (h t + (-1) * l t))).
    exact: below db.
  exists (Num.min r q); split=> // t; rewrite lt_minr => /andP[tr tq]; rewrite fE // gE // ea eb // ec // /cubic; ring.
- apply: (@agrees_by _ _ (fun t => h t + (-1) * l t)) => //.
  exists (Num.min r q); split=> // t; rewrite lt_minr => /andP[tr tq]; rewrite fE // gE // ea eb // ec // ed // /cubic; ring.
Qed.

End Series.
