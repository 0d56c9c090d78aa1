import { SEAT_COUNT, Seats } from './seats.js';

const everySeatTaken = (seats: Seats): number[] =>
  Array.from({ length: SEAT_COUNT }, (_, index) => seats.seatOf(`replica-${index}`));

describe('the seats of replicas', () => {
  it('are a number each, the same for the same owner', () => {
    const seats = new Seats();
    const numbers = everySeatTaken(seats);
    expect(new Set(numbers).size).toBe(SEAT_COUNT);
    expect(everySeatTaken(seats)).toEqual(numbers);
  });

  it('are taken from the longest unused owner when there is none left, who then takes that of the next', () => {
    const seats = new Seats();
    const numbers = everySeatTaken(seats);
    seats.seatOf('replica-0');
    expect(seats.seatOf('newcomer')).toBe(numbers[1]);
    expect(seats.seatOf('replica-1')).toBe(numbers[2]);
    expect(seats.seatOf('newcomer')).toBe(numbers[1]);
  });
});
