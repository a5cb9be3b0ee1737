export { isDatabaseAway } from '../../persistence/database/availability.ts';
