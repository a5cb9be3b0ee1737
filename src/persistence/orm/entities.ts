import { EntitySchema } from '@mikro-orm/core';
import * as activity from '../activities/activity.entity.ts';
import * as agentMessage from '../activities/agent-message.entity.ts';
import * as batch from '../activities/batch.entity.ts';
import * as outbox from '../activities/outbox.entity.ts';
import * as agent from '../agents/agent.entity.ts';
import * as systemSetting from '../common/system-setting.entity.ts';
import * as storedFile from '../compliance/stored-file.entity.ts';
import * as usgAudit from '../compliance/usg-audit.entity.ts';
import * as usgProfile from '../compliance/usg-profile.entity.ts';
import * as usgReport from '../compliance/usg-report.entity.ts';
import * as computerFacts from '../computers/computer-facts.entity.ts';
import * as computer from '../computers/computer.entity.ts';
import * as license from '../computers/license.entity.ts';
import * as profile from '../computers/profile.entity.ts';
import * as savedSearch from '../computers/saved-search.entity.ts';
import * as alert from '../events/alert.entity.ts';
import * as cloudEvent from '../events/cloud-event.entity.ts';
import * as event from '../events/event.entity.ts';
import * as webhook from '../events/webhook.entity.ts';
import * as accessGroup from '../identity/access-group.entity.ts';
import * as account from '../identity/account.entity.ts';
import * as credential from '../identity/credential.entity.ts';
import * as invitation from '../identity/invitation.entity.ts';
import * as login from '../identity/login.entity.ts';
import * as membership from '../identity/membership.entity.ts';
import * as person from '../identity/person.entity.ts';
import * as role from '../identity/role.entity.ts';
import * as reconcilerMark from '../schedules/reconciler-mark.entity.ts';
import * as scriptProfile from '../scripts/script-profile.entity.ts';
import * as script from '../scripts/script.entity.ts';
import * as hashIdDatabase from '../software/hash-id-database.entity.ts';
import * as packages from '../software/package.entity.ts';
import * as snap from '../software/snap.entity.ts';

const MODULES = [
  activity,
  agentMessage,
  batch,
  outbox,
  agent,
  systemSetting,
  storedFile,
  usgAudit,
  usgProfile,
  usgReport,
  computerFacts,
  computer,
  license,
  profile,
  savedSearch,
  alert,
  cloudEvent,
  event,
  webhook,
  accessGroup,
  account,
  credential,
  invitation,
  login,
  membership,
  person,
  role,
  reconcilerMark,
  scriptProfile,
  script,
  hashIdDatabase,
  packages,
  snap,
];

type Exported<Module> = Module extends unknown ? Module[keyof Module] : never;
type Schema = Extract<Exported<(typeof MODULES)[number]>, { tableName: string }>;

/** The schemas of all files of entities. */
export const ENTITIES = MODULES.flatMap((module) =>
  Object.values(module).filter((exported): exported is Schema => exported instanceof EntitySchema),
);

declare module '../database/sql.ts' {
  interface Registry {
    entities: typeof ENTITIES;
  }
}
