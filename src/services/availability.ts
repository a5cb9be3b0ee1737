export { isDatabaseAway } from '../persistence/availability.ts';
