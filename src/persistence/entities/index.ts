export { AccessGroup } from './access-group.entity.ts';
export { Account } from './account.entity.ts';
export { Membership, MembershipRole } from './membership.entity.ts';
export { Person } from './person.entity.ts';
export { Role, RoleAccessGroup } from './role.entity.ts';
