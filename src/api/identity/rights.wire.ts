import type { AccessGroupView, InvitationView, RoleView } from '../../services/setup/views.ts';
import { wireTime } from '../common/time.wire.ts';

export function wireInvitation({ creation_time, expires_at, bound, ...rest }: InvitationView) {
  return {
    ...rest,
    creation_time: wireTime(creation_time),
    expires_at: wireTime(expires_at),
    bind_to_email: bound,
  };
}

export function wireAccessGroup({ name, title, parent, children }: AccessGroupView) {
  return { name, title, parent, children };
}

export function wireRole({ id: _id, read_only: _readOnly, ...rest }: RoleView) {
  return rest;
}

/** A permission as the list shows it; the title is its name in words. */
export function wirePermission({ name, global }: { name: string; global: boolean }) {
  const words = name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
  return { name, title: words.charAt(0).toUpperCase() + words.slice(1), global };
}
