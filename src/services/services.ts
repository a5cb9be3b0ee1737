import type { ActivitySettings } from '../config.ts';
import type { Persistence } from '../persistence/orm.ts';
import { type AccountsService, createAccountsService } from './accounts.service.ts';
import { type ActivitiesService, createActivitiesService } from './activities.service.ts';
import { type ComputersService, createComputersService } from './computers.service.ts';
import { createHashingQueue, createLoginService, type LoginService } from './login.service.ts';
import { createPeopleService, type PeopleService } from './people.service.ts';
import type { Clock, TemporalHealth } from './ports.ts';
import { createReadiness, type Readiness } from './readiness.service.ts';
import { type Authenticator, createAuthenticator } from './rights.service.ts';
import { createSnapsService, type SnapsService } from './snaps.service.ts';
import { createTokens, type Tokens } from './tokens.ts';

/** Everything the API calls. */
export interface Services {
  tokens: Tokens;
  authenticator: Authenticator;
  readiness: Readiness;
  accounts: AccountsService;
  login: LoginService;
  people: PeopleService;
  computers: ComputersService;
  snaps: SnapsService;
  activities: ActivitiesService;
}

export interface ServicesDeps {
  persistence: Persistence;
  temporal: TemporalHealth;
  clock: Clock;
  jwtSecret: string;
  activities: ActivitySettings;
}

/** Builds the services of one API process. */
export function createServices(deps: ServicesDeps): Services {
  const { persistence, clock } = deps;
  const { db } = persistence;
  const tokens = createTokens(deps.jwtSecret, clock);
  const hashing = createHashingQueue();
  return {
    tokens,
    authenticator: createAuthenticator({ db, tokens, clock }),
    readiness: createReadiness({ persistence, temporal: deps.temporal }),
    accounts: createAccountsService({ db, hashing }),
    login: createLoginService({ db, tokens, clock, hashing }),
    people: createPeopleService({ db }),
    computers: createComputersService({ db }),
    snaps: createSnapsService({ db, clock, settings: deps.activities }),
    activities: createActivitiesService({ db, clock }),
  };
}
