/** The largest number that fits a column of type integer, and so the largest id. */
export const MAX_INT4 = 2_147_483_647;
