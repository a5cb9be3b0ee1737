import type { AccessGroupView, InvitationView, RoleView } from '../../services/setup/views.ts';
import { formatTime } from '../common/time.wire.ts';

export function toInvitationResponse({ creation_time, expires_at, bound, ...rest }: InvitationView) {
  return {
    ...rest,
    creation_time: formatTime(creation_time),
    expires_at: formatTime(expires_at),
    bind_to_email: bound,
  };
}

export function toAccessGroupResponse({ name, title, parent, children }: AccessGroupView) {
  return { name, title, parent, children };
}

export function toRoleResponse({ id: _id, read_only: _readOnly, ...rest }: RoleView) {
  return rest;
}

/** The title is the name in words. */
export function toPermissionResponse({ name, global }: { name: string; global: boolean }) {
  const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return { name, title: words.charAt(0).toUpperCase() + words.slice(1), global };
}
