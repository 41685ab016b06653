/** Conversion of a value by the driver before it is sent, which its types omit. */
declare module 'pg/lib/utils.js' {
  const utils: { prepareValue(value: unknown): unknown }
  export default utils
}
