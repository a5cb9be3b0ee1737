import { containing } from '../database/sql.ts';
import type { Compilation } from './compilation.ts';
import { upgradableReleases } from '../../domain/common/releases.ts';

const WINDOWS = 'microsoft';

/** The release has the number or code name, in any case; `windows` stands for WSL hosts. */
export function distributionCondition(name: string, compilation: Compilation): string {
  if (name.toLowerCase() === 'windows') {
    return `lower(coalesce(c.distribution_info ->> 'distributor', '')) = '${WINDOWS}'`;
  }
  const wanted = compilation.value(name, 'text');
  const codeName = `c.distribution_info ->> 'code_name'`;
  // Reported texts can be too long for an index; their 64-bit hashes are not, and hardly ever collide.
  const digest = (text: string) => `hashtextextended(lower(${text}), 0)`;
  return `(c.distribution is not null and ${digest('c.distribution')} = ${digest(wanted)}
    or ${codeName} is not null and ${digest(codeName)} = ${digest(wanted)})`;
}

/** A known network device, active or not, has an address that contains the text, in any case. */
export function addressCondition(column: 'n.ip_address' | 'n.mac_address', part: string, compilation: Compilation) {
  // A superset, by index. The exact check is not a LIKE, or the planner would multiply both and expect few rows.
  const indexed = compilation.value(containing(part.replaceAll(/[.:]/g, '')), 'text');
  const exact = compilation.value(part, 'text');
  return `exists (select from computer_network n where n.computer_id = c.id
    and translate(lower(${column}), '.:', '') like lower(${indexed}) and strpos(lower(${column}), lower(${exact})) > 0)`;
}

/** The update manager is set to offer an available release upgrade; `never` offers none. */
export function releaseUpgradeCondition(compilation: Compilation): string {
  const { lts, normal } = upgradableReleases(compilation.values.now);
  const prompt = `coalesce(c.update_manager_prompt, 'lts')`;
  return `(coalesce(c.distribution_info ->> 'distributor', '') = 'Ubuntu' and ${prompt} <> 'never'
    and coalesce(c.distribution, '') = any(case ${prompt} when 'normal' then ${compilation.value(normal, 'text[]')}
      else ${compilation.value(lts, 'text[]')} end))`;
}
