export { AccessGroup } from '../identity/access-group.entity.ts';
export { Account } from '../identity/account.entity.ts';
export { Membership, MembershipRole } from '../identity/membership.entity.ts';
export { Person } from '../identity/person.entity.ts';
export { Role, RoleAccessGroup } from '../identity/role.entity.ts';
