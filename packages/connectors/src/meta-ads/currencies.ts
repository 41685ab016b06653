/**
 * Decimals of amounts at Meta, by its page “Currencies”: amounts are in hundredths, and of some currencies in whole units. It differs
 * from ISO 4217 in both directions: HUF, IDR and TWD are in whole units, and BHD and JOD in hundredths.
 */
const wholeUnits = 'CLP COP CRC HUF ISK IDR JPY KRW PYG TWD VND'
const hundredths =
  'AED ARS AUD BDT BGN BHD BOB BRL CAD CHF CNY CZK DKK DZD EGP EUR GBP GTQ HKD HNL HRK ILS INR JOD KES LTL LVL MOP MXN MYR NGN NIO NOK NZD PEN PHP PKR PLN QAR RON RSD RUB SAR SEK SGD SKK THB TRY UAH USD UYU VEF VES ZAR'

const digits = new Map<string, number>([
  ...wholeUnits.split(' ').map((currency) => [currency, 0] as const),
  ...hundredths.split(' ').map((currency) => [currency, 2] as const),
])

/** Decimals of an amount in a currency. `undefined` for a currency that Meta's page does not list. */
export const metaDigits = (currency: string): number | undefined => digits.get(currency)
