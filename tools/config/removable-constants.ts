import type { Options } from 'tsup';
import { readFile } from 'node:fs/promises';
import ts from 'typescript';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

/**
 * Lets the bundler of an application remove the constants that the application does not use. A bundler keeps an unused
 * constant whose value comes from a call or a member, because either may have effects. In our modules they have none, as
 * `package-check` proves: so the build makes each of these values in a call that is marked as pure.
 */
export const removableConstants: Plugin = {
  name: 'removable-constants',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: withRemovableConstants(await readFile(path, 'utf8')),
      loader: 'ts',
    }));
  },
};

/** Returns a module whose constants and static fields can be removed when they are not used. */
export function withRemovableConstants(source: string): string {
  const file = ts.createSourceFile('module.ts', source, ts.ScriptTarget.Latest, false);
  return file.statements
    .flatMap(valuesIn)
    .filter((value) => !isPlain(value))
    .toReversed()
    .reduce((text, value) => {
      const [start, end] = [value.getStart(file), value.end];
      return `${text.slice(0, start)}/* @__PURE__ */ (() => (${text.slice(start, end)}))()${text.slice(end)}`;
    }, source);
}

/** The values that a statement makes when the module is loaded. */
function valuesIn(statement: ts.Statement): readonly ts.Expression[] {
  const declarations = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [];
  const fields = ts.isClassDeclaration(statement) ? statement.members.filter(isStaticField) : [];
  return [...declarations, ...fields].flatMap(({ initializer }) => initializer ?? []);
}

function isStaticField(member: ts.ClassElement): member is ts.PropertyDeclaration {
  return (
    ts.isPropertyDeclaration(member) && (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Static) !== 0
  );
}

/** True for functions, texts and numbers, and for lists and objects of these: every bundler removes them. */
function isPlain(node: ts.Node): boolean {
  if (ts.isFunctionLike(node) || ts.isClassExpression(node)) return true; // their names come from the constant
  if (ts.isTypeNode(node) || ts.isIdentifier(node)) return true;
  if (!PLAIN_KINDS.has(node.kind)) return false;
  return ts.forEachChild(node, (child) => (isPlain(child) ? undefined : true)) === undefined;
}

const PLAIN_KINDS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.StringLiteral,
  ts.SyntaxKind.NoSubstitutionTemplateLiteral,
  ts.SyntaxKind.NumericLiteral,
  ts.SyntaxKind.TrueKeyword,
  ts.SyntaxKind.FalseKeyword,
  ts.SyntaxKind.NullKeyword,
  ts.SyntaxKind.ArrayLiteralExpression,
  ts.SyntaxKind.ObjectLiteralExpression,
  ts.SyntaxKind.PropertyAssignment,
  ts.SyntaxKind.ShorthandPropertyAssignment,
  ts.SyntaxKind.AsExpression,
  ts.SyntaxKind.SatisfiesExpression,
]);
