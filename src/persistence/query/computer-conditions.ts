import type {
  ComputerCriterion,
  ComputerQuery,
  LicenseCriterion,
  StateCriterion,
} from '../../domain/query/computer-query.ts';
import type { Factor } from '../../domain/query/parser.ts';
import {
  accessGroupCondition,
  annotationCondition,
  keywordCondition,
  nameCondition,
  tagCondition,
} from './name-conditions.ts';
import { alertCondition } from './alert-conditions.ts';
import { Compilation, type SqlCondition } from './compilation.ts';
import {
  contractCondition,
  contractExpiryCondition,
  licenseExpiryCondition,
  licenseTypeCondition,
  proManagementCondition,
  seatCondition,
} from './license-conditions.ts';
import { profileCondition, upgradeProfileCondition } from './profile-conditions.ts';
import {
  addressCondition,
  cloudCondition,
  distributionCondition,
  releaseUpgradeCondition,
} from './system-conditions.ts';

/** Parsed saved searches by name: all that a query uses. They do not use others. */
export type SavedQueries = ReadonlyMap<string, ComputerQuery>;

export interface ComputerSelection {
  query: ComputerQuery;
  searches: SavedQueries;
  now: Date;
}

/**
 * Translates a query into SQL over the alias `c` of `computer`: true or false for every row, never null.
 * @param scope.accountId - the account in which names and ids are resolved; the condition does not restrict `c` to it
 * @param scope.firstParameter - number of the first free placeholder of the statement
 */
export function compileComputerQuery(
  { query, searches, now }: ComputerSelection,
  scope: { accountId: number; firstParameter: number },
): SqlCondition {
  const compilation = new Compilation({ ...scope, now });
  const text = computersCondition(query, compilation, searches);
  return { text, values: compilation.values };
}

/** As {@link compileComputerQuery}, as a part of a larger condition. */
export function computersCondition(query: ComputerQuery, compilation: Compilation, searches: SavedQueries): string {
  return queryCondition(query, { compilation, searches });
}

interface Context {
  compilation: Compilation;
  searches: SavedQueries;
}

const NO_SEARCHES: SavedQueries = new Map();

function queryCondition(query: ComputerQuery, context: Context): string {
  if (query.clauses.length === 0) return 'true';
  return query.clauses.map((factors) => clauseCondition(factors, context)).join('\n and ');
}

function clauseCondition(factors: ReadonlyArray<Factor<ComputerCriterion>>, context: Context): string {
  const alternatives = factors.map(({ negated, criterion }) => {
    const condition = criterionCondition(criterion, context);
    return negated ? `not (${condition})` : condition;
  });
  return alternatives.length === 1 ? alternatives[0]! : `(${alternatives.join(' or ')})`;
}

function criterionCondition(criterion: ComputerCriterion, { compilation, searches }: Context): string {
  switch (criterion.kind) {
    case 'keyword':
      return keywordCondition(criterion.text, compilation);
    case 'hostname':
    case 'title':
      return nameCondition(criterion.kind, criterion.text, compilation);
    case 'tag':
      return tagCondition(criterion.text, compilation);
    case 'annotation':
      return annotationCondition(criterion.key, criterion.part, compilation);
    case 'id':
      return `c.id = ${compilation.value(criterion.id, 'int')}`;
    case 'access-group':
      return accessGroupCondition(criterion.name, criterion.recursive, compilation);
    case 'search':
      return `(${queryCondition(searches.get(criterion.text)!, { compilation, searches: NO_SEARCHES })})`;
    default:
      return stateCondition(criterion, compilation);
  }
}

function stateCondition(criterion: StateCriterion | LicenseCriterion, compilation: Compilation): string {
  switch (criterion.kind) {
    case 'alert':
      return alertCondition(criterion.name);
    case 'profile':
      return profileCondition(criterion, compilation);
    case 'upgrade-profile':
      return upgradeProfileCondition();
    case 'reboot':
      return 'c.reboot_required';
    case 'release-upgrade':
      return releaseUpgradeCondition(compilation);
    case 'distribution':
      return distributionCondition(criterion.text, compilation);
    case 'mac':
    case 'ip':
      return addressCondition(criterion.kind, criterion.part, compilation);
    case 'cloud':
      return cloudCondition(criterion.field, criterion.text, compilation);
    default:
      return licenseCondition(criterion, compilation);
  }
}

function licenseCondition(criterion: LicenseCriterion, compilation: Compilation): string {
  switch (criterion.kind) {
    case 'license-id':
      return seatCondition(criterion.id, compilation);
    case 'license-type':
      return licenseTypeCondition(criterion.type);
    case 'license-expires':
      return licenseExpiryCondition(criterion.days, compilation);
    case 'contract':
      return contractCondition(criterion.text, compilation);
    case 'contract-expires':
      return contractExpiryCondition(criterion.days, compilation);
    case 'pro-management':
      return proManagementCondition(criterion.enabled);
  }
}
