/** The form in which sources, channels and statuses are stored, written otherwise than in shared/domain/stored-name.ts. */
export const lowerCase = (name: string): string =>
  name
    .split("İ")
    .map((part) => part.toLowerCase())
    .join("İ");
