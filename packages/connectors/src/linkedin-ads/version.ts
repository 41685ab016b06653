/** The version of LinkedIn's marketing API that is called, as its header names it: July 2026. */
export const linkedinVersion = '202607'

/** LinkedIn retires a version a year after its month at the earliest, mostly in the middle of that month. */
export const linkedinApi = {
  version: linkedinVersion,
  ends: 'Expected about 15 July 2027: LinkedIn supports a version for at least one year.',
}
