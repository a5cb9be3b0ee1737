/** Maximum of the integer column type, and therefore of ids. */
export const MAX_INT4 = 2_147_483_647;
