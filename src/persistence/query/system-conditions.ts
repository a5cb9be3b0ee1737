import type { CloudField } from '../../domain/query/computer-query.ts';
import { containing } from '../database/sql.ts';
import type { Compilation } from './compilation.ts';
import { upgradableReleases } from '../../domain/common/releases.ts';

/** Distributor that hosts of WSL report. */
const WINDOWS = 'microsoft';

/** The release has the number or code name, in any case; `windows` stands for hosts of WSL. */
export function distributionCondition(name: string, compilation: Compilation): string {
  if (name.toLowerCase() === 'windows') {
    return `lower(coalesce(c.distribution_info ->> 'distributor', '')) = '${WINDOWS}'`;
  }
  const wanted = compilation.value(name, 'text');
  const codeName = `c.distribution_info ->> 'code_name'`;
  // Reported texts can be too long for an index; 64 bits of them are not, and nobody else's.
  const digest = (text: string) => `hashtextextended(lower(${text}), 0)`;
  return `(c.distribution is not null and ${digest('c.distribution')} = ${digest(wanted)}
    or ${codeName} is not null and ${digest(codeName)} = ${digest(wanted)})`;
}

/** A known network device, active or not, has an address that contains the text, in any case. */
export function addressCondition(kind: 'ip' | 'mac', part: string, compilation: Compilation): string {
  const column = kind === 'ip' ? 'n.ip_address' : 'n.mac_address';
  // The index knows addresses without separators: what contains the one contains the other. The exact look is no LIKE,
  // or the planner would take the two for independent and expect next to nothing.
  const indexed = compilation.value(containing(part.replaceAll(/[.:]/g, '')), 'text');
  const exact = compilation.value(part, 'text');
  return `exists (select from computer_network n where n.computer_id = c.id
    and translate(lower(${column}), '.:', '') like lower(${indexed}) and strpos(lower(${column}), lower(${exact})) > 0)`;
}

const CLOUD_COLUMNS: Readonly<Record<CloudField, string>> = {
  'instance-id': `c.cloud_instance_metadata ->> 'instance-id'`,
  'instance-type': `c.cloud_instance_metadata ->> 'instance-type'`,
  'ami-id': `c.cloud_instance_metadata ->> 'ami-id'`,
  'availability-zone': `c.cloud_init ->> 'availability_zone'`,
};

/** What the cloud says of the instance is the text; null asks for computers of which it says nothing. */
export function cloudCondition(field: CloudField, text: string | null, compilation: Compilation): string {
  return `coalesce(${CLOUD_COLUMNS[field]}, '') = ${compilation.value(text ?? '', 'text')}`;
}

/** A release upgrade that the update manager is set to offer is there; `never` offers none. */
export function releaseUpgradeCondition(compilation: Compilation): string {
  const { lts, normal } = upgradableReleases(compilation.moment);
  const prompt = `coalesce(c.update_manager_prompt, 'lts')`;
  return `(coalesce(c.distribution_info ->> 'distributor', '') = 'Ubuntu' and ${prompt} <> 'never'
    and coalesce(c.distribution, '') = any(case ${prompt} when 'normal' then ${compilation.value(normal, 'text[]')}
      else ${compilation.value(lts, 'text[]')} end))`;
}
