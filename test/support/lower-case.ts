/** The form in which a new account's sources, channels and statuses are stored: see shared/domain/stored-names.ts. */
export const lowerCase = (name: string): string =>
  name
    .split("İ")
    .map((part) => part.toLowerCase())
    .join("İ");
