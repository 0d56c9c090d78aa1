/**
 * For the specs in this folder. Computed from the definition, not with the code under test: digits are summed as
 * written.
 */
export function withCheckDigit(digits: string): string {
  const total = [...digits].reverse().reduce((sum, digit, index) => {
    const doubled = String(Number(digit) * (index % 2 === 0 ? 2 : 1));
    return sum + [...doubled].reduce((all, one) => all + Number(one), 0);
  }, 0);
  return digits + String((10 - (total % 10)) % 10);
}
