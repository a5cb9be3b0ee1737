import type { LicenseCriterion, LicenseType } from '../../domain/query/computer-query.ts';
import { type Compilation, type Conditions, NOW } from './compilation.ts';

// By a seat, by the Pro subscription that its agent reports, or, if it reports none, by an associated contract.
const HAS_SEAT = 'exists (select from computer_license l where l.computer_id = c.id)';
const associated = (condition: string) =>
  `exists (select from computer_contract m join contract k on k.account_id = m.account_id and k.id = m.contract_id
    where m.computer_id = c.id and ${condition})`;
const HAS_CONTRACT = 'exists (select from computer_contract m where m.computer_id = c.id)';

const BY_TYPE: Readonly<Record<LicenseType, string>> = {
  legacy: HAS_SEAT,
  pro: `(c.pro_attached and not c.pro_free or ${associated('not k.free')})`,
  free_pro: `(c.pro_attached and c.pro_free or ${associated('k.free')})`,
  unlicensed: `(not c.pro_attached and not ${HAS_SEAT} and not ${HAS_CONTRACT})`,
};

export const LICENSE_CONDITIONS: Conditions<LicenseCriterion> = {
  'license-type': ({ type }) => BY_TYPE[type],
  'license-id': ({ id }, compilation) => `exists (select from computer_license l
    where l.computer_id = c.id and l.license_id = ${compilation.value(id, 'int')})`,
  contract({ text }, compilation) {
    const wanted = compilation.value(text, 'text');
    return `(c.pro_attached and c.pro_contract_id is not null and c.pro_contract_id = ${wanted}
    or exists (select from computer_contract m where m.computer_id = c.id and m.contract_id = ${wanted}))`;
  },
  /** By the account's data, else by what agents report. */
  'contract-expires'({ days }, compilation) {
    const within = withinDays(days, compilation);
    const known = 'from contract k where k.account_id = c.account_id and k.id = c.pro_contract_id';
    return `(c.pro_attached and c.pro_expires is not null and ${within('c.pro_expires')}
      and not exists (select ${known} and k.expires is not null)
    or c.pro_attached and exists (select ${known} and ${within('k.expires')})
    or ${associated(within('k.expires'))})`;
  },
  'license-expires': ({ days }, compilation) => `exists (
    select from computer_license l join legacy_license k on k.id = l.license_id
    where l.computer_id = c.id and ${withinDays(days, compilation)('k.expires')})`,
  'pro-management': ({ enabled }) => (enabled ? 'c.pro_attached' : 'not c.pro_attached'),
};

function withinDays(days: number, compilation: Compilation): (column: string) => string {
  const end = `${NOW} + make_interval(days => ${compilation.value(days, 'int')})`;
  return (column) => `${column} between ${NOW} and ${end}`;
}
