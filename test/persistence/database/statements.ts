import ts from 'typescript';

/** The row type of a statement in the code. */
export interface Statement {
  /** File and line of its call. */
  place: string;
  /** Its text in every form that it can take; none when it is composed of what only a request knows. */
  texts: string[];
  /** Names of its parameters; none when they are numbered. */
  parameters: string[];
  /** Type of each column by name; null when the caller does not use the rows. */
  columns: Map<string, Column> | null;
}

export interface Column {
  kinds: Set<string>;
  isOptional: boolean;
  isNullable: boolean;
}

const MOST_FORMS = 64;

/** What stands in a statement for the `text` of a type that a query of a request composes. */
const STAND_INS: ReadonlyMap<string, string> = new Map([
  ['SqlCondition', 'true'],
  ['FoundPage', 'select 1 as id'],
]);

/** Every call of `query` in `src/persistence`, read by the compiler. */
export function readStatements(): Statement[] {
  const config = ts.getParsedCommandLineOfConfigFile('tsconfig.json', {}, {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (found) => {
      throw new Error(String(found.messageText));
    },
  } as ts.ParseConfigFileHost)!;
  const files = config.fileNames.filter((file) => file.includes('/src/persistence/') && !file.includes('/migrations/'));
  const program = ts.createProgram(files, config.options);
  const checker = program.getTypeChecker();
  return program
    .getSourceFiles()
    .filter((file) => files.includes(file.fileName))
    .flatMap((file) => callsOf(file).map((call) => toStatement(checker, file, call)));
}

function callsOf(file: ts.SourceFile): ts.CallExpression[] {
  const calls: ts.CallExpression[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { name, expression } = node.expression;
      if (name.text === 'query' && /^(tx|sql|db|database)$/.test(expression.getText())) calls.push(node);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return calls;
}

function toStatement(checker: ts.TypeChecker, file: ts.SourceFile, call: ts.CallExpression): Statement {
  const [text, parameters] = call.arguments;
  const { line } = file.getLineAndCharacterOfPosition(call.getStart());
  return {
    place: `${file.fileName.slice(file.fileName.indexOf('src/persistence'))}:${line + 1}`,
    texts: new TextForms(checker).of(text!),
    parameters: parameters ? namesOf(checker.getTypeAtLocation(parameters), checker) : [],
    columns: columnsOf(checker, call),
  };
}

function namesOf(type: ts.Type, checker: ts.TypeChecker): string[] {
  return checker.isArrayLikeType(type) ? [] : type.getProperties().map(({ name }) => name);
}

/** The row type of the promise that the call returns. */
function columnsOf(checker: ts.TypeChecker, call: ts.CallExpression): Statement['columns'] {
  const [rows] = checker.getTypeArguments(checker.getTypeAtLocation(call) as ts.TypeReference);
  const [row] = rows ? checker.getTypeArguments(rows as ts.TypeReference) : [];
  if (row === undefined || row.symbol?.name === 'QueryResultRow') return isUnread(call, checker) ? null : new Map();
  const forms = row.isUnion() ? row.types : [row];
  return new Map(
    forms.flatMap((form) => form.getProperties().map((property) => [property.name, toColumn(property, checker)])),
  );
}

/** Whether a caller reads no column of the rows; their number it may. */
function isUnread(call: ts.CallExpression, checker: ts.TypeChecker): boolean {
  let node: ts.Node = call;
  while (ts.isAwaitExpression(node.parent) || ts.isParenthesizedExpression(node.parent)) node = node.parent;
  const { parent } = node;
  if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) {
    const symbol = checker.getSymbolAtLocation(parent.name);
    return usesOf(symbol!, checker, parent.getSourceFile()).every((use) => isLength(use.parent));
  }
  return node === call || ts.isExpressionStatement(parent) || isLength(parent);
}

function isLength(node: ts.Node): boolean {
  return ts.isPropertyAccessExpression(node) && node.name.text === 'length';
}

function usesOf(symbol: ts.Symbol, checker: ts.TypeChecker, file: ts.SourceFile): ts.Identifier[] {
  const uses: ts.Identifier[] = [];
  const visit = (node: ts.Node): void => {
    if (
      ts.isIdentifier(node) &&
      node.parent !== symbol.valueDeclaration &&
      checker.getSymbolAtLocation(node) === symbol
    ) {
      uses.push(node);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return uses;
}

function toColumn(property: ts.Symbol, checker: ts.TypeChecker): Column {
  const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
  const type = checker.getTypeOfSymbol(property);
  const isNullable = isOptional || checker.getNonNullableType(type) !== type;
  return { kinds: kindsOf(type, checker), isOptional, isNullable };
}

function kindsOf(type: ts.Type, checker: ts.TypeChecker): Set<string> {
  const parts = type.isUnion() ? type.types : [type];
  const isNull = (part: ts.Type) => (part.flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) !== 0;
  return new Set(parts.filter((part) => !isNull(part)).map((part) => kindOf(part, checker)));
}

function kindOf(type: ts.Type, checker: ts.TypeChecker): string {
  if (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return 'any';
  if (type.flags & ts.TypeFlags.StringLike) return 'string';
  if (type.flags & ts.TypeFlags.NumberLike) return 'number';
  if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean';
  if (checker.isArrayLikeType(type)) {
    const element = checker.getTypeArguments(type as ts.TypeReference)[0]!;
    return `${[...kindsOf(element, checker)].sort().join('|')}[]`;
  }
  const base = type.isIntersection() ? kindOf(type.types[0]!, checker) : type.symbol?.name;
  return base === 'Date' || base === 'Buffer' || type.isIntersection() ? base! : 'object';
}

/** Evaluates the text of a statement with what modules declare; parameters of functions take each value of their type. */
class TextForms {
  readonly #checker: ts.TypeChecker;
  readonly #declarations = new Map<ts.Declaration, string>();
  readonly #code: string[] = [];
  readonly #choices = new Map<ts.Declaration, { name: string; values: string[] }>();

  constructor(checker: ts.TypeChecker) {
    this.#checker = checker;
  }

  of(text: ts.Expression): string[] {
    try {
      const code = this.#compile(text);
      const choices = [...this.#choices.values()];
      const js = ts.transpile(`${this.#code.join('\n')}\nresult = ${code};`);
      let forms: string[][] = [[]];
      for (const { values } of choices) forms = forms.flatMap((form) => values.map((value) => [...form, value]));
      if (forms.length > MOST_FORMS) return [];
      return forms.map((form) => {
        const chosen = choices.map(({ name }, at) => `const ${name} = ${form[at]};`).join('\n');
        return new Function(`let result;\n${chosen}\n${js}\nreturn result;`)() as string;
      });
    } catch (error) {
      if (error instanceof Unknown) return [];
      throw error;
    }
  }

  /** The text of a node in which names of declarations outside of it are unique. */
  #compile(node: ts.Node): string {
    const source = node.getSourceFile();
    const start = node.getStart(source);
    let code = '';
    let end = start;
    const visit = (inner: ts.Node): void => {
      if (ts.isTypeNode(inner)) return;
      const standIn = this.#standInOf(inner);
      if (standIn !== undefined) {
        code += source.text.slice(end, inner.getStart(source)) + JSON.stringify(standIn);
        end = inner.getEnd();
        return;
      }
      if (ts.isIdentifier(inner)) {
        const name = this.#nameOf(inner, node);
        if (name === null) return;
        code += source.text.slice(end, inner.getStart(source));
        code += ts.isShorthandPropertyAssignment(inner.parent) ? `${inner.text}: ${name}` : name;
        end = inner.getEnd();
        return;
      }
      ts.forEachChild(inner, visit);
    };
    visit(node);
    return code + source.text.slice(end, node.getEnd());
  }

  #standInOf(node: ts.Node): string | undefined {
    if (!ts.isPropertyAccessExpression(node) || node.name.text !== 'text') return undefined;
    return STAND_INS.get(this.#checker.getTypeAtLocation(node.expression).symbol?.name);
  }

  #nameOf(identifier: ts.Identifier, within: ts.Node): string | null {
    const { parent } = identifier;
    if (ts.isPropertyAccessExpression(parent) && parent.name === identifier) return null;
    if (ts.isPropertyAssignment(parent) && parent.name === identifier) return null;
    let symbol = ts.isShorthandPropertyAssignment(parent)
      ? this.#checker.getShorthandAssignmentValueSymbol(parent)
      : this.#checker.getSymbolAtLocation(identifier);
    if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = this.#checker.getAliasedSymbol(symbol);
    const declaration = symbol?.valueDeclaration;
    if (declaration === undefined) return null;
    const file = declaration.getSourceFile();
    if (file.isDeclarationFile) {
      if (file.fileName.includes('/typescript/lib/')) return null;
      throw new Unknown();
    }
    const isInside = file === within.getSourceFile() && declaration.pos >= within.pos && declaration.end <= within.end;
    return isInside ? null : this.#declare(declaration);
  }

  #declare(declaration: ts.Declaration): string {
    const known = this.#declarations.get(declaration) ?? this.#choices.get(declaration)?.name;
    if (known !== undefined) return known;
    const name = `d${this.#declarations.size + this.#choices.size}`;
    if (ts.isParameter(declaration) || ts.isBindingElement(declaration)) {
      this.#choices.set(declaration, { name, values: valuesOf(this.#checker.getTypeAtLocation(declaration)) });
      return name;
    }
    this.#declarations.set(declaration, name);
    if (ts.isVariableDeclaration(declaration) && declaration.initializer && ts.isIdentifier(declaration.name)) {
      this.#code.push(`const ${name} = ${this.#compile(declaration.initializer)};`);
    } else if (ts.isFunctionDeclaration(declaration)) {
      this.#code.push(`const ${name} = ${this.#compile(declaration).replace(/^(export )?(function )\w+/, '$2')};`);
    } else throw new Unknown();
    return name;
  }
}

function valuesOf(type: ts.Type): string[] {
  const parts = type.isUnion() ? type.types : [type];
  return parts.map((part) => {
    if (part.isStringLiteral()) return JSON.stringify(part.value);
    if (part.flags & ts.TypeFlags.BooleanLiteral) return (part as unknown as { intrinsicName: string }).intrinsicName;
    if (part.flags & ts.TypeFlags.Undefined) return 'undefined';
    if (part.flags & ts.TypeFlags.Null) return 'null';
    throw new Unknown();
  });
}

/** What the text needs is not known before a request. */
class Unknown extends Error {}
