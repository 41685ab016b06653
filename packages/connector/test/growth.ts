import assert from 'node:assert/strict'

/** Inputs of both sizes consist of the same unit. Quadratic work needs `growth` times as long for each byte. */
const smallBytes = 8 << 10
const growth = 64
/**
 * How much longer a byte of the large input can take. Caches and the collector make a linear reader slower: up to 9 times on a
 * machine whose other processors were busy.
 */
const factorMax = 20
const roundsMax = 6

/**
 * Asserts that the time of work is proportional to its input: a byte of a large input must not take much longer than a byte of a
 * small one. It compares the processor time of this process, the minimum of some rounds, so that a busy machine changes nothing.
 * @param what names the input in the failure
 * @param make an input of approximately a number of bytes
 * @param work the measured function; it can refuse the input by throwing
 */
export async function assertLinear<T extends { readonly length: number }>(
  what: string,
  make: (bytes: number) => T,
  work: (input: T) => unknown,
): Promise<void> {
  const small = make(smallBytes)
  const large = make(smallBytes * growth)
  // Code that is not compiled yet is slow on any input, and would make the small input look as slow as a large one.
  await perByte(small, work, growth)
  let [forSmall, forLarge] = [Infinity, Infinity]
  for (let round = 1; ; round += 1) {
    forSmall = Math.min(forSmall, await perByte(small, work, growth))
    forLarge = Math.min(forLarge, await perByte(large, work, 1))
    if (forLarge <= forSmall * factorMax) return
    if (round < roundsMax) continue
    assert.fail(
      `${what}: a byte takes ${(forLarge / forSmall).toFixed(1)} times as long where the input is ${growth} times as large`,
    )
  }
}

async function perByte<T extends { readonly length: number }>(
  input: T,
  work: (input: T) => unknown,
  times: number,
): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < times; i += 1) {
    try {
      await work(input)
    } catch {
      // A refusal must be as fast as an answer.
    }
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (input.length * times)
}
