import { asConnectorError, type Egress, type Values } from '@penstock/connector'
import { adviseOnFixedAddress } from '@penstock/connector/egress'

/**
 * An egress for addresses that nobody entered, such as the API of a platform. Its errors do not ask people to check the address.
 * @param values of the connector's fields: an address that contains a value, or is part of a value, was entered by a person
 */
export function withFixedAddresses(egress: Egress, ...values: readonly Values[]): Egress {
  const entered = values.flatMap((one) => Object.values(one).flatMap((value) => partsOf(value)))
  const advised = async <T>(host: string, work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (error) {
      const known = asConnectorError(error)
      throw known && !isEntered(host, entered) ? adviseOnFixedAddress(known) : error
    }
  }
  return {
    request: (url, init) => advised(hostOf(url), egress.request(url, init)),
    connect: (host, port, options) => advised(host, egress.connect(host, port, options)),
  }
}

/** Shorter values are in many names by chance. */
const lengthMin = 3

const partsOf = (value: unknown): string[] =>
  [value].flat().flatMap((one) => (typeof one === 'string' && one.length >= lengthMin ? [one.toLowerCase()] : []))

/** Whether a person entered the host, or a label of it such as a bucket, an account or a region. */
function isEntered(host: string, entered: readonly string[]): boolean {
  const name = host.toLowerCase()
  return entered.some((value) => value.includes(name) || `.${name}.`.includes(`.${value}.`))
}

const hostOf = (url: string | URL): string => (URL.canParse(String(url)) ? new URL(String(url)).hostname : '')
