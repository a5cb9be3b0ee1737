import { upgradableReleases } from '../../domain/common/releases.ts';
import type { Compilation } from './compilation.ts';

/** A release upgrade that the update manager is set to offer is there; `never` offers none. */
export function releaseUpgradeCondition(compilation: Compilation): string {
  const { lts, normal } = upgradableReleases(compilation.moment);
  const prompt = `coalesce(c.update_manager_prompt, 'lts')`;
  return `(coalesce(c.distribution_info ->> 'distributor', '') = 'Ubuntu' and ${prompt} <> 'never'
    and coalesce(c.distribution, '') = any(case ${prompt} when 'normal' then ${compilation.value(normal, 'text[]')}
      else ${compilation.value(lts, 'text[]')} end))`;
}
