export { describeWith } from '#libs/testing';
