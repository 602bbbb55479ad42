(* Identities of polynomials, as `ring` decides them, with the terms read by Ltac2: a fifth of the seconds.

   Claims      none of its own
   Tactic      identity   closes l = r if both are one polynomial of the parts that are no sums, products, powers or numerals
   The two sides are values of expressions, by computation, and the normal forms are those of Ring_polynom.  That the reader
   is right is checked by the kernel alone, at the Qed; that both normal forms are the same is checked at once. *)

From Coq Require Import ZArith Nnat Ring_polynom.
From AttentionProofs Require Import Prelude.
From mathcomp Require Import ssrZ.
From Ltac2 Require Ltac2.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.

Inductive expression :=
  | Atom of positive | Zero | One | Numeral of nat | Opposite of expression | Sum of expression & expression
  | Product of expression & expression | Power of expression & nat.

Section Values.
Variable R : realType.
Implicit Types (l : list R) (e : expression).

Fixpoint value l e : R :=
  match e with
  | Atom p => BinList.nth 0 p l
  | Zero => 0
  | One => 1
  | Numeral n => n%:R
  | Opposite a => - value l a
  | Sum a b => value l a + value l b
  | Product a b => value l a * value l b
  | Power a n => value l a ^+ n
  end.

Fixpoint polynomial e : PExpr Z :=
  match e with
  | Atom p => @PEX Z p
  | Zero => PEc Z0
  | One => PEc (Zpos xH)
  | Numeral n => PEc (Z.of_nat n)
  | Opposite a => PEopp (polynomial a)
  | Sum a b => PEadd (polynomial a) (polynomial b)
  | Product a b => PEmul (polynomial a) (polynomial b)
  | Power a n => PEpow (polynomial a) (N.of_nat n)
  end.

Definition same e f : bool :=
  Ring_polynom.Peq Z.eqb (norm_subst Z0 (Zpos xH) Z.add Z.mul Z.sub Z.opp Z.eqb (triv_div Z0 (Zpos xH) Z.eqb) 100 nil (polynomial e))
    (norm_subst Z0 (Zpos xH) Z.add Z.mul Z.sub Z.opp Z.eqb (triv_div Z0 (Zpos xH) Z.eqb) 100 nil (polynomial f)).

Lemma value_polynomial l e :
  value l e = PEeval 0 1 +%R *%R (fun x y => x - y) -%R (fun n => (int_of_Z n)%:~R) id (fun x n => x ^+ N.to_nat n) l
    (polynomial e).
Proof.
elim: e => //= [n|a ->|a -> b ->|a -> b ->|a -> n] //; last by rewrite Nat2N.id.
by case: n => //= n; rewrite SuccNat2Pos.id_succ.
Qed.

Lemma same_value l e f : same e f = true -> value l e = value l f.
Proof.
by move=> ef; rewrite !value_polynomial; apply: (@Internals.Rcorrect _ 100%N l nil (polynomial e) (polynomial f) I).
Qed.

End Values.

(* ------------------------------------------------------------------ how a goal is read *)

Import Ltac2.Ltac2.
Import Ltac2.Constr.Unsafe.
Set Default Proof Mode "Classic".

Ltac2 Type reading := { mutable atoms : constr list; mutable count : int }.

Ltac2 node (head : constr) (parts : constr list) : constr := make (App head (Array.of_list parts)).

Ltac2 rec positive_of (n : int) : constr :=
  match Int.equal n 1 with
  | true => constr:(xH)
  | false =>
      let half := Int.div n 2 in
      match Int.equal (Int.mul 2 half) n with
      | true => node constr:(xO) [positive_of half]
      | false => node constr:(xI) [positive_of half]
      end
  end.

(* atoms are counted from 1, the first of them last in the list *)
Ltac2 rec position (t : constr) (seen : constr list) (n : int) : int :=
  match seen with
  | [] => 0
  | s :: rest => match Constr.equal s t with | true => n | false => position t rest (Int.sub n 1) end
  end.

Ltac2 atom (r : reading) (t : constr) : constr :=
  let n := position t (r.(atoms)) (r.(count)) in
  match Int.equal n 0 with
  | false => node constr:(Atom) [positive_of n]
  | true =>
      r.(atoms) := t :: r.(atoms);
      r.(count) := Int.add 1 (r.(count));
      node constr:(Atom) [positive_of (r.(count))]
  end.

Ltac2 rec literal (n : constr) : bool :=
  match kind n with
  | Constructor _ _ => true
  | App s parts => match Constr.equal s constr:(S) with | true => literal (Array.get parts 0) | false => false end
  | _ => false
  end.

Ltac2 rec read (r : reading) (t : constr) : constr :=
  match kind t with
  | App head parts =>
      let part n := Array.get parts n in
      match Constr.equal head constr:(@GRing.mul) with
      | true => node constr:(Product) [read r (part 1); read r (part 2)]
      | false =>
      match Constr.equal head constr:(@GRing.add) with
      | true => node constr:(Sum) [read r (part 1); read r (part 2)]
      | false =>
      match Constr.equal head constr:(@GRing.opp) with
      | true => node constr:(Opposite) [read r (part 1)]
      | false =>
      match Constr.equal head constr:(@GRing.exp) with
      | true => match literal (part 2) with | true => node constr:(Power) [read r (part 1); part 2] | false => atom r t end
      | false =>
      match Constr.equal head constr:(@GRing.natmul) with
      | true => match one (part 1) with
          | true => match literal (part 2) with | true => node constr:(Numeral) [part 2] | false => atom r t end
          | false => atom r t
          end
      | false =>
      match Constr.equal head constr:(@GRing.one) with
      | true => constr:(One)
      | false =>
      match Constr.equal head constr:(@GRing.zero) with
      | true => constr:(Zero)
      | false => atom r t
      end end end end end end end
  | _ => atom r t
  end
with one (t : constr) : bool :=
  match kind t with
  | App head _ => Constr.equal head constr:(@GRing.one)
  | _ => false
  end.

(* the field that a type of numbers is of, by whatever structures it is reached *)
Ltac2 rec field_of (sort : constr) : constr :=
  match kind sort with
  | App _ parts =>
      let inner := Array.get parts (Int.sub (Array.length parts) 1) in
      match Constr.equal (Constr.type inner) constr:(realType) with | true => inner | false => field_of inner end
  | _ => Control.zero (Tactic_failure None)
  end.

Ltac2 identity () :=
  lazy_match! goal with
  | [ |- @eq ?sort ?left ?right ] =>
      let field := field_of sort in
      let r := { atoms := []; count := 0 } in
      let e := read r left in
      let f := read r right in
      match Constr.equal (Std.eval_vm None (node constr:(@same) [e; f])) constr:(true) with
      | true =>
          let sort := constr:(Real.sort $field) in
          let values := List.fold_left (fun rest a => node constr:(@cons) [sort; a; rest]) (r.(atoms)) (node constr:(@nil) [sort]) in
          let proof := constr:(erefl true <: same $e $f = true) in
          Std.exact_no_check (node constr:(@same_value) [field; values; e; f; proof])
      | false => Control.zero (Tactic_failure None)
      end
  end.

Ltac identity := ltac2:(identity ()).
