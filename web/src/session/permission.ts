import type { components } from '@flotilla/client';

type Held = components['schemas']['HeldPermissions'];

/** The name of a permission, on the account or on access groups. */
export type Permission = Held['global_permissions'][number] | Held['permissions'][number]['name'];
